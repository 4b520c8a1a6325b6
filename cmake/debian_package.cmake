# `cpack` in a build tree of the shared library makes two Debian packages: of the library, and of headers, CMake package
# and pkg-config file.
set(runtime libbackslice${BACKSLICE_ABI_VERSION})
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME backslice)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "The backslice developers")
if(DEFINED ENV{DEBEMAIL})
  string(APPEND CPACK_PACKAGE_CONTACT " <$ENV{DEBEMAIL}>")
endif()
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_ALL runtime library)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)  # finds dependencies by the system's own rules; needs dpkg-dev
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)

set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME ${runtime})
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${PROJECT_BINARY_DIR}/debian/triggers)
set(CPACK_DEBIAN_RUNTIME_DESCRIPTION "backward pass of slicing, shared library
Gradients of slices of dense, sparse and ragged tensors and of tensor arrays,
for every data type, with each output byte written once.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libbackslice-dev)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "${runtime} (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_LIBRARY_DESCRIPTION "backward pass of slicing, headers for C and C++
Headers, a CMake package and a file for pkg-config, for programs that use
${runtime}.")
file(WRITE ${PROJECT_BINARY_DIR}/debian/triggers "activate-noawait ldconfig\n")

# Each package brings its licence and its own changelog, in Debian's format.
string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE ${PROJECT_BINARY_DIR}/debian/changelog
  "backslice (${PROJECT_VERSION}) unstable; urgency=medium\n\n  * Built by cpack; see CHANGELOG.md in the sources.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${date}\n")
execute_process(COMMAND gzip -9nkf ${PROJECT_BINARY_DIR}/debian/changelog)
file(WRITE ${PROJECT_BINARY_DIR}/debian/copyright
  "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: backslice\n\nFiles: *\nCopyright: 2026 The backslice developers\nLicense: Apache-2.0\n On Debian systems, the text of this licence is in\n /usr/share/common-licenses/Apache-2.0.\n")
foreach(component IN ITEMS RUNTIME LIBRARY)
  string(TOLOWER ${component} name)
  install(FILES ${PROJECT_BINARY_DIR}/debian/copyright ${PROJECT_BINARY_DIR}/debian/changelog.gz
    DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/doc/${CPACK_DEBIAN_${component}_PACKAGE_NAME} COMPONENT ${name} EXCLUDE_FROM_ALL)
endforeach()
# CPack calls ldconfig, whatever triggers say.
file(WRITE ${PROJECT_BINARY_DIR}/debian/lintian-overrides "${runtime}: maintscript-calls-ldconfig *\n")
install(FILES ${PROJECT_BINARY_DIR}/debian/lintian-overrides DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/lintian/overrides
  RENAME ${runtime} COMPONENT runtime EXCLUDE_FROM_ALL)
include(CPack)
