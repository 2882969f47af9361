# SPDX-License-Identifier: MIT
# tpgen_add_events(TARGET [PRIVATE|PUBLIC|INTERFACE] FILE.tp...
#                  [CREATE_TRACE_POINTS] [LANGUAGE C|CXX] [INCLUDE_DIRECTORIES DIR...] [OPTIONS OPTION...])
#
# Makes NAME.h of each NAME.tp in the build directory, for the files of TARGET, and links TARGET with tpgen::tp: or with
# tpgen::tp_static, if TARGET is linked with it already or tpgen_USE_STATIC_LIBS is true. tpgen sees the macros, the
# directories and the compiler that TARGET's files are compiled with.
#
#	PRIVATE, PUBLIC, INTERFACE  who may include the headers: TARGET, which is the default, or its users, or both
#	CREATE_TRACE_POINTS         adds a file to TARGET that defines what the headers declare
#	LANGUAGE                    what that file is, and whose options count; C, if the project has it
#	INCLUDE_DIRECTORIES         more directories for tpgen --expand-includes
#	OPTIONS                     of tpgen, such as -W
#
# TARGET's property TPGEN_HEADERS lists the headers.

function(_tpgen_refuse target)
	list(JOIN ARGN "" message)
	message(FATAL_ERROR "tpgen_add_events(${target}): ${message}")
endfunction()

# For a command line in one string.
function(_tpgen_quoted text result)
	string(REPLACE "'" "'\\''" text "${text}")
	set(${result} "'${text}'" PARENT_SCOPE)
endfunction()

# A compiler with the options that all files of a language have.
function(_tpgen_compiler language result)
	_tpgen_quoted("${CMAKE_${language}_COMPILER}" command)
	string(APPEND command " ${CMAKE_${language}_COMPILER_ARG1}")
	if(CMAKE_${language}_COMPILER_TARGET AND CMAKE_${language}_COMPILE_OPTIONS_TARGET)
		string(APPEND command " ${CMAKE_${language}_COMPILE_OPTIONS_TARGET}${CMAKE_${language}_COMPILER_TARGET}")
	endif()
	set(sysroot "${CMAKE_SYSROOT}")
	if(CMAKE_SYSROOT_COMPILE)
		set(sysroot "${CMAKE_SYSROOT_COMPILE}")
	endif()
	if(sysroot AND CMAKE_${language}_COMPILE_OPTIONS_SYSROOT)
		_tpgen_quoted("${CMAKE_${language}_COMPILE_OPTIONS_SYSROOT}${sysroot}" option)
		string(APPEND command " ${option}")
	endif()
	string(APPEND command " ${CMAKE_${language}_FLAGS}")
	foreach(config IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
		string(TOUPPER "${config}" CONFIG)
		string(APPEND command " $<$<CONFIG:${config}>:${CMAKE_${language}_FLAGS_${CONFIG}}>")
	endforeach()
	# tpgen reads all .tp files as C, in which clang takes no standard of C++.
	string(REGEX REPLACE "-std=[^ >]+" "" command "${command}")
	set(${result} "${command}" PARENT_SCOPE)
endfunction()

# Writes tpgen's arguments for a target into a file for each language, which is new whenever one of them changes.
function(_tpgen_write_arguments file target language directories options)
	get_target_property(type ${target} TYPE)
	set(prefix "")
	if(type STREQUAL "INTERFACE_LIBRARY")
		set(prefix INTERFACE_)
	endif()
	list(TRANSFORM directories REPLACE "^([^/$].*)" "${CMAKE_CURRENT_SOURCE_DIR}/\\1")
	set(all "$<TARGET_PROPERTY:${target},${prefix}COMPILE_OPTIONS>")
	set(macros "$<FILTER:$<TARGET_PROPERTY:${target},${prefix}COMPILE_DEFINITIONS>,INCLUDE,.>")
	set(places "$<FILTER:${directories};$<TARGET_PROPERTY:${target},${prefix}INCLUDE_DIRECTORIES>,INCLUDE,.>")
	_tpgen_compiler(${language} compiler)
	string(CONCAT text
		"--cc\n${compiler} $<JOIN:$<FILTER:${all},INCLUDE,^-m[-+A-Za-z0-9_=.]+$>, >\n"
		"$<JOIN:$<FILTER:${all},INCLUDE,^-[DU].>,\n>\n"
		"$<$<BOOL:${macros}>:-D$<JOIN:${macros},\n-D>>\n"
		"$<$<BOOL:${places}>:-I$<JOIN:${places},\n-I>>\n"
		"$<JOIN:${options},\n>\n")
	file(GENERATE OUTPUT "${file}.$<COMPILE_LANGUAGE>" CONTENT "${text}")
endfunction()

# As target_link_libraries() does, of which a target can't mix the signatures with keywords and without.
function(_tpgen_link target visibility library)
	get_target_property(type ${target} TYPE)
	if(visibility MATCHES "PRIVATE|PUBLIC")
		set_property(TARGET ${target} APPEND PROPERTY LINK_LIBRARIES ${library})
	endif()
	if(visibility MATCHES "PUBLIC|INTERFACE")
		set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES ${library})
	elseif(type MATCHES "^(STATIC|OBJECT)_LIBRARY$")
		set_property(TARGET ${target} APPEND PROPERTY INTERFACE_LINK_LIBRARIES $<LINK_ONLY:${library}>)
	endif()
endfunction()

# The library that a target is to be linked with.
function(_tpgen_library target result)
	set(linked "")
	foreach(property LINK_LIBRARIES INTERFACE_LINK_LIBRARIES)
		get_target_property(libraries ${target} ${property})
		list(APPEND linked ${libraries})
	endforeach()
	set(library tpgen::tp)
	if(tpgen_USE_STATIC_LIBS OR "tpgen::tp_static" IN_LIST linked)
		set(library tpgen::tp_static)
	endif()
	if(NOT TARGET tpgen::tpgen OR NOT TARGET ${library})
		_tpgen_refuse(${target} "tpgen::tpgen or ${library} is not there: find_package(tpgen REQUIRED) says why.")
	endif()
	set(${result} "${library}" PARENT_SCOPE)
endfunction()

# The target itself, of one that may be an alias.
function(_tpgen_target target result)
	if(NOT TARGET "${target}")
		_tpgen_refuse("${target}" "there is no target '${target}': add_executable() or add_library() comes first.")
	endif()
	get_target_property(real "${target}" ALIASED_TARGET)
	if(NOT real)
		set(real "${target}")
	endif()
	get_target_property(imported ${real} IMPORTED)
	get_target_property(type ${real} TYPE)
	if(imported OR type STREQUAL "UTILITY")
		_tpgen_refuse(${target} "'${target}' is not built of files here: name an executable or a library of this project.")
	endif()
	set(${result} ${real} PARENT_SCOPE)
endfunction()

# The one keyword of those that were given; it must fit the target.
function(_tpgen_visibility target keywords creates result)
	get_target_property(type ${target} TYPE)
	list(JOIN keywords " and " given)
	if(given MATCHES " and ")
		_tpgen_refuse(${target} "one call can't be ${given}: make one for each.")
	elseif(type STREQUAL "INTERFACE_LIBRARY" AND given MATCHES "PRIVATE|PUBLIC")
		_tpgen_refuse(${target} "an INTERFACE library can't have ${given} events: write INTERFACE.")
	elseif(NOT type STREQUAL "INTERFACE_LIBRARY" AND creates AND given STREQUAL "INTERFACE")
		_tpgen_refuse(${target} "CREATE_TRACE_POINTS makes a file of ${target} include the headers: write PUBLIC, not INTERFACE.")
	elseif(NOT given)
		set(given PRIVATE)
		if(type STREQUAL "INTERFACE_LIBRARY")
			set(given INTERFACE)
		endif()
	endif()
	set(${result} ${given} PARENT_SCOPE)
endfunction()

function(_tpgen_language target language result)
	get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
	if(NOT language)
		set(language CXX)
		if("C" IN_LIST languages)
			set(language C)
		endif()
	endif()
	if(NOT language MATCHES "^(C|CXX)$")
		_tpgen_refuse(${target} "LANGUAGE is C or CXX, not '${language}'.")
	elseif(NOT language IN_LIST languages)
		_tpgen_refuse(${target} "the project has no compiler for ${language}: write project(... LANGUAGES ${language}).")
	endif()
	set(${result} ${language} PARENT_SCOPE)
endfunction()

# The path of a .tp file. Another command may be going to make it.
function(_tpgen_file target file result)
	if(NOT file MATCHES "\\.tp$")
		_tpgen_refuse(${target} "'${file}' is neither a .tp file nor one of PRIVATE, PUBLIC, INTERFACE, CREATE_TRACE_POINTS, LANGUAGE, "
			"INCLUDE_DIRECTORIES and OPTIONS.")
	endif()
	foreach(base "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}")
		get_filename_component(path "${file}" ABSOLUTE BASE_DIR "${base}")
		get_source_file_property(generated "${path}" GENERATED)
		if(generated OR EXISTS "${path}")
			get_filename_component(directory "${path}" DIRECTORY)
			get_filename_component(name "${path}" NAME_WLE)
			if(EXISTS "${directory}/${name}.h")
				_tpgen_refuse(${target} "files beside ${directory}/${name}.h would include that, and not the header that is made of "
					"${name}.tp in the build directory: remove ${name}.h, or rename one of the two.")
			endif()
			set(${result} "${path}" PARENT_SCOPE)
			return()
		endif()
	endforeach()
	get_filename_component(path "${file}" ABSOLUTE)
	_tpgen_refuse(${target} "there is no file ${path}: correct its name, or make it.")
endfunction()

# The directory of a header. One that has the name of a system's header, such as sched.h, is found between quotes only.
function(_tpgen_directory target visibility language top name result)
	foreach(system IN LISTS CMAKE_${language}_IMPLICIT_INCLUDE_DIRECTORIES)
		if(EXISTS "${system}/${name}.h")
			target_compile_options(${target} ${visibility} "$<BUILD_INTERFACE:SHELL:-iquote \"${top}/quoted\">")
			set(${result} "${top}/quoted" PARENT_SCOPE)
			return()
		endif()
	endforeach()
	target_include_directories(${target} BEFORE ${visibility} "$<BUILD_INTERFACE:${top}>")
	set(${result} "${top}" PARENT_SCOPE)
endfunction()

# tpgen leaves a header alone that would not change, so that nothing is compiled again. The stamp says when it has looked.
function(_tpgen_add_header path directory arguments options)
	get_filename_component(name "${path}" NAME_WLE)
	get_target_property(tpgen tpgen::tpgen IMPORTED_LOCATION)
	set(out "${directory}/${name}")
	# Only options let tpgen read other files. Else there is no list of them, in which CMake knows not all ways of quoting.
	set(depfile "")
	set(option "")
	if(options)
		set(depfile DEPFILE "${out}.d")
		set(option --depfile "${out}.d")
	endif()
	# In that list, the whole path could need more quoting.
	file(RELATIVE_PATH stamp "${CMAKE_CURRENT_BINARY_DIR}" "${out}.stamp")
	add_custom_command(
		OUTPUT "${out}.stamp"
		BYPRODUCTS "${out}.h"
		${depfile}
		COMMAND "${tpgen}" gen "@${arguments}" --stamp "${stamp}" ${option} -o "${directory}" "${path}"
		DEPENDS "${path}" "${arguments}" "${tpgen}"
		COMMENT "Making ${name}.h of ${name}.tp"
		VERBATIM)
endfunction()

# The file that defines what the headers declare. It stands alone: what it defines concerns no other file.
function(_tpgen_create target source headers)
	set(includes "")
	foreach(header IN LISTS headers)
		get_filename_component(name "${header}" NAME)
		string(APPEND includes "#include \"${name}\"\n")
	endforeach()
	file(CONFIGURE OUTPUT "${source}" @ONLY CONTENT
		"/* Made by tpgen_add_events() for ${target}. */\n#define CREATE_TRACE_POINTS\n@includes@")
	set_source_files_properties("${source}" TARGET_DIRECTORY ${target} PROPERTIES
		SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
	get_target_property(type ${target} TYPE)
	if(type STREQUAL "INTERFACE_LIBRARY")
		target_sources(${target} INTERFACE "$<BUILD_INTERFACE:${source}>")
	else()
		target_sources(${target} PRIVATE "${source}")
	endif()
endfunction()

function(tpgen_add_events target)
	set(keywords PRIVATE PUBLIC INTERFACE)
	cmake_parse_arguments(PARSE_ARGV 1 arg "${keywords};CREATE_TRACE_POINTS" "LANGUAGE" "INCLUDE_DIRECTORIES;OPTIONS")
	foreach(keyword IN LISTS keywords)
		if(NOT arg_${keyword})
			list(REMOVE_ITEM keywords ${keyword})
		endif()
	endforeach()
	_tpgen_target("${target}" target)
	_tpgen_visibility(${target} "${keywords}" "${arg_CREATE_TRACE_POINTS}" visibility)
	_tpgen_language(${target} "${arg_LANGUAGE}" language)
	_tpgen_library(${target} library)
	if(NOT arg_UNPARSED_ARGUMENTS)
		_tpgen_refuse(${target} "there is no .tp file: name at least one.")
	endif()

	# Each call has a target, on which all depend that include its headers, in whatever way they are linked.
	set(events "${target}.events")
	while(TARGET "${events}")
		string(APPEND events "+")
	endwhile()
	set(source "${CMAKE_CURRENT_BINARY_DIR}/${target}.events")
	set(top "${source}")
	get_property(several GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
	if(several)
		string(APPEND top "/$<CONFIG>")
	endif()

	set(arguments "${top}/${events}.arguments")
	_tpgen_write_arguments("${arguments}" ${target} ${language} "${arg_INCLUDE_DIRECTORIES}" "${arg_OPTIONS}")
	get_property(others TARGET ${target} PROPERTY TPGEN_HEADERS)
	set(headers "")
	foreach(file IN LISTS arg_UNPARSED_ARGUMENTS)
		_tpgen_file(${target} "${file}" path)
		get_filename_component(name "${path}" NAME_WLE)
		_tpgen_directory(${target} ${visibility} ${language} "${top}" "${name}" directory)
		if("${directory}/${name}.h" IN_LIST others OR "${directory}/${name}.h" IN_LIST headers)
			_tpgen_refuse(${target} "'${file}' is not the only ${name}.tp of ${target}, whose headers are in one directory: rename one.")
		endif()
		list(APPEND headers "${directory}/${name}.h")
		_tpgen_add_header("${path}" "${directory}" "${arguments}.${language}" "${arg_OPTIONS}")
	endforeach()
	set_property(TARGET ${target} APPEND PROPERTY TPGEN_HEADERS ${headers})
	string(REGEX REPLACE "\\.h(;|$)" ".stamp\\1" stamps "${headers}")
	add_custom_target("${events}" DEPENDS ${stamps})
	add_dependencies(${target} "${events}")

	_tpgen_link(${target} ${visibility} ${library})
	if(arg_CREATE_TRACE_POINTS)
		string(TOLOWER ${language} extension)
		_tpgen_create(${target} "${source}/${events}.${extension}" "${headers}")
	endif()
endfunction()
