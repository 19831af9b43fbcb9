//go:build !unix

package sqlite

import "io/fs"

// checkOwner leaves the folder to the access control lists of the system: a
// folder below the user's profile is the user's alone.
func checkOwner(fs.FileInfo) error { return nil }

// isReadOnly reports whether nothing can be written into the folder. Here only
// the attempt to write can tell.
func isReadOnly(string) bool { return false }
