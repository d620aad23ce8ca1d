#pragma once
// The programs that know an inventory which is no YAML: ansible-inventory, and scripts.

#include "inventory/sources.hpp"

namespace cleanslate::controller {

class InventoryPrograms : public inventory::Programs {
  public:
    Result<std::string> ansible_inventory(const std::string& path) override;
    Result<std::string> script(const std::string& path) override;
};

}  // namespace cleanslate::controller
