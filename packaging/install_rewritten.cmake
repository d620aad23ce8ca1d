# Part of the install script: files in which something depends on where they come to lie.
# units, readme, pages, documentation, work: set before this is included.
foreach(unit ${units})
  get_filename_component(name ${unit} NAME)
  file(READ ${unit} text)
  string(REPLACE "/usr/local/" "${CMAKE_INSTALL_PREFIX}/" text "${text}")
  file(WRITE ${work}/${name} "${text}")
  file(INSTALL ${work}/${name} DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/system
       PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()

# The README lies beside the pages that it names, and what packaging/ has for a site's own use among the examples.
foreach(page ${readme} ${pages})
  get_filename_component(name ${page} NAME)
  file(READ ${page} text)
  string(REPLACE "(docs/" "(" text "${text}")
  string(REPLACE "../packaging/" "packaging/" text "${text}")
  string(REPLACE "packaging/slurm" "examples/slurm" text "${text}")
  string(REPLACE "packaging/kubernetes" "examples/kubernetes" text "${text}")
  file(WRITE ${work}/${name} "${text}")
  file(INSTALL ${work}/${name} DESTINATION ${CMAKE_INSTALL_PREFIX}/${documentation}
       PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()
