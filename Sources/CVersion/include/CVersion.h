// The version of the build, which Package.swift defines.
#ifndef CVERSION_H
#define CVERSION_H

/// Returns the version, in the form of semver.org.
const char *cversion_current(void);

#endif
