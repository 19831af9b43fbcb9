package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strconv"

	"github.com/google/renameio/v2/maybe"

	"stillso/internal/home"
	"stillso/internal/settings"
)

// askNetwork asks, once in the life of a config.toml, whether claims may be checked
// by asking other machines, and writes the answer down. Nobody is asked where there
// is no terminal, and no answer is no answer: then it stays off, and open.
func (a *app) askNetwork(never bool) error {
	if never || !a.interactive() {
		return nil
	}
	path := a.dir.Config()
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real // the file stays where the person put it
	}
	text, err := home.ReadFile(path, maxConfig)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil //nolint:nilerr // what is wrong with the settings is for doctor to say
	}
	if _, open, err := settings.AddKey(text, "verify", "network", "false"); err != nil || !open {
		return nil //nolint:nilerr // as above: and what cannot be kept is not asked
	}
	yes, answered := a.answer("Memories claim that pages answer, pull requests are merged, secrets exist. May stillso ask other machines to check that (HTTP, gh, doppler, aws)?")
	if !answered {
		return nil
	}
	out, _, err := settings.AddKey(text, "verify", "network", strconv.FormatBool(yes))
	if err == nil {
		err = maybe.WriteFile(path, out, 0o600)
	}
	if err != nil {
		return fmt.Errorf("the answer was not kept: %w; write network = %v below [verify] in %s", err, yes, path)
	}
	_, err = fmt.Fprintf(a.std.err, "written to %s: verify.network = %v\n", path, yes)
	return err
}
