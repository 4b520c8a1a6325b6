# Compiles the files of a folder as one, since compiling a file mostly means compiling headers that its neighbours
# include too.
#
# So names in anonymous namespaces must be unique in their folder. BACKSLICE_UNITY_BUILD=OFF compiles each file alone,
# as builds of wheels do, and so finds missing includes.
option(BACKSLICE_UNITY_BUILD "Compile the files of a folder as one" ON)

# Files that Highway compiles once per SIMD target include themselves, so each is compiled alone.
set(BACKSLICE_SIMD_SOURCES add.cc indices.cc move.cc spread.cc stream.cc)
# The files of operators are compiled alone: they all use the same names.
set(BACKSLICE_ONNXRUNTIME_OPERATORS multi_slice_grad.cc ragged_gradient.cc slice_grad.cc slice_grad_accumulate.cc sparse_slice_grad.cc
  strided_slice_grad.cc)

# backslice_unity(TARGET [GROUPS COUNT] [ALONE NAME...]): compiles the target's files in COUNT groups per folder (1),
# except files with these names, which are compiled alone.
function(backslice_unity target)
  cmake_parse_arguments(PARSE_ARGV 1 unity "" GROUPS ALONE)
  if(NOT BACKSLICE_UNITY_BUILD)
    return()
  endif()
  if(NOT unity_GROUPS)
    set(unity_GROUPS 1)
  endif()
  set(count 0)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(GET source FILENAME name)
    if(name MATCHES "\\.cc$" AND NOT name IN_LIST unity_ALONE)
      # A relative path gives a group the same name in every clone, so ccache recognises it.
      cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE path)
      cmake_path(GET path PARENT_PATH folder)
      cmake_path(RELATIVE_PATH folder BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
      math(EXPR number "${count} % ${unity_GROUPS}")
      math(EXPR count "${count} + 1")
      string(MAKE_C_IDENTIFIER "${target}_${folder}_${number}" group)
      set_property(SOURCE ${source} PROPERTY UNITY_GROUP ${group})
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
