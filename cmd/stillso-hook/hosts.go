package main

import (
	"stillso/internal/host"
	"stillso/internal/host/claudecode"
)

// called reads the arguments: a host and an event, or less. The event is "" if the
// document has to say it.
func called(args []string) (hostName, event string, ok bool) {
	switch len(args) {
	case 0:
		return claudecode.Name, "", true
	case 1:
		return args[0], "", true
	case 2:
		return args[0], args[1], args[1] != ""
	}
	return "", "", false
}

// adapter is what the hook needs of a host's package.
type adapter struct {
	parse   func(event string, stdin []byte) (host.Call, error)
	context func(event, text string) []byte
}

func adapterOf(name string) (adapter, bool) {
	if name == claudecode.Name {
		return adapter{claudecode.Parse, claudecode.Context}, true
	}
	return adapter{}, false
}
