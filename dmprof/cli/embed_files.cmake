# Writes a .cc with every YAML file of a folder inside, so that the program needs no files beside it: FUNCTION() returns
# them as `{"LABEL/name.yaml", text}`, in order of name.
# Used as: dm_embed_files(OUTPUT FUNCTION LABEL FOLDER)
function(dm_embed_files output function label folder)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.yaml)
  list(SORT files)
  set(text "// Made by dmprof/cli/embed_files.cmake.\n#include \"dmprof/cli/embedded.h\"\n\nnamespace dmprof::cli {\n\n")
  string(APPEND text "std::vector<EmbeddedFile> ${function}() {\n  return {\n")
  foreach(file ${files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    file(READ ${file} yaml)
    get_filename_component(name ${file} NAME)
    string(APPEND text "      {\"${label}/${name}\", R\"==yaml==(${yaml})==yaml==\"},\n")
  endforeach()
  string(APPEND text "  };\n}\n\n}  // namespace dmprof::cli\n")
  # Written only when it changed, so that an unrelated configure does not compile it again.
  file(WRITE ${output}.new "${text}")
  configure_file(${output}.new ${output} COPYONLY)
endfunction()
