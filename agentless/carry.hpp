#pragma once
// Optional evidence over the surveys of one host: a quick survey does not ask for it, and what an earlier one
// said holds until it is asked again.

#include "agentless/evidence.hpp"

namespace cleanslate::agentless {

// Gives `now` what it was not told: where its optional query, or its `nvidia-smi -L`, was not asked, that of
// `earlier`; and to each GPU that shows no optional cell the cells of the same GPU there (by uuid, else bus
// id, else index) with what they say of its state. A GPU that has no row in `now` keeps nothing.
void carry_optional(Evidence& now, const Evidence& earlier);

// What a later survey may be given: the optional evidence of `now`, which was given that of `earlier`, and of
// the GPUs that had a row there and have none in `now`: theirs may come back.
Evidence optional_part(const Evidence& now, const Evidence& earlier);

}  // namespace cleanslate::agentless
