# Highway from its sources: only the target `hwy`, whose objects become part of the library.
if(NOT EXISTS ${BACKSLICE_HIGHWAY_SOURCE}/hwy/highway.h)
  message(FATAL_ERROR "BACKSLICE_HIGHWAY_SOURCE is \"${BACKSLICE_HIGHWAY_SOURCE}\", where there is no hwy/highway.h; "
    "expected the folder of Highway's sources.")
endif()
foreach(part CONTRIB EXAMPLES INSTALL TESTS)
  set(HWY_ENABLE_${part} OFF CACHE BOOL "" FORCE)
endforeach()
set(HWY_FORCE_STATIC_LIBS ON CACHE BOOL "" FORCE)
add_subdirectory(${BACKSLICE_HIGHWAY_SOURCE} ${PROJECT_BINARY_DIR}/highway EXCLUDE_FROM_ALL)
