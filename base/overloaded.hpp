#pragma once
// One function object of several lambdas: for std::visit.

namespace cleanslate {

template <class... Fs>
struct Overloaded : Fs... {
    using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace cleanslate
