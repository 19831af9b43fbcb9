// Package stillso holds the words of stillso, the long-term memory of AI coding
// assistants: what a memory is, how it changes, what a session is, and the
// contracts of those that keep them. It imports the standard library only and
// does no I/O, so that every room may import it and none can be pulled in by it.
//
// docs/glossary.md lists the words, docs/format.md the published forms of these
// types, ARCHITECTURE.md the rooms.
package stillso
