# cleanslate_embed(TARGET HEADER NAMESPACE FILE...)
# Turns each FILE into a std::string_view constant of NAMESPACE in the generated header HEADER, named after the
# file (survey.sh -> survey_sh), and lets TARGET include it. The files stay the only source; shell
# scripts lose their comments and indentation on the way. A script or style of a page has the hash that a
# Content-Security-Policy knows it by beside it (report.css -> report_css, report_css_hash).
function(cleanslate_embed target header namespace)
  set(out ${PROJECT_BINARY_DIR}/generated/${header})
  set(inputs "")
  foreach(file ${ARGN})
    list(APPEND inputs ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  string(REPLACE ";" "|" joined "${inputs}")
  add_custom_command(
    OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DNAMESPACE=${namespace} "-DFILES=${joined}"
            -P ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    DEPENDS ${inputs} ${PROJECT_SOURCE_DIR}/cmake/embed_files.cmake
    VERBATIM)
  string(MAKE_C_IDENTIFIER "embed_${header}" name)
  add_custom_target(${name} DEPENDS ${out})
  add_dependencies(${target} ${name})
  target_include_directories(${target} PRIVATE ${PROJECT_BINARY_DIR}/generated)
endfunction()
