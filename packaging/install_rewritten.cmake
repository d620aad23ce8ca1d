# Part of the install script: files in which something depends on where they come to lie.
# units, readme, documentation, work: set before this is included.
foreach(unit ${units})
  get_filename_component(name ${unit} NAME)
  file(READ ${unit} text)
  string(REPLACE "/usr/local/" "${CMAKE_INSTALL_PREFIX}/" text "${text}")
  file(WRITE ${work}/${name} "${text}")
  file(INSTALL ${work}/${name} DESTINATION ${CMAKE_INSTALL_PREFIX}/lib/systemd/system
       PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
endforeach()

# The page lies beside those that it names.
file(READ ${readme} text)
string(REPLACE "(docs/" "(" text "${text}")
file(WRITE ${work}/README.md "${text}")
file(INSTALL ${work}/README.md DESTINATION ${CMAKE_INSTALL_PREFIX}/${documentation}
     PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)
