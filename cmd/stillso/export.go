package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2/maybe"

	"stillso"
	"stillso/internal/files"
)

// exportCmd writes memories to a file or to standard output.
type exportCmd struct {
	File      string `arg:"" optional:"" help:"Where to; else standard output. A name that ends in .json gets one array." type:"path"`
	All       bool   `short:"a" help:"Also retired memories."`
	Namespace string `help:"user, project (with user), all (the default), or a full namespace." default:"all"`
	Dir       string `help:"Act as if in this directory." type:"path"`
}

// Help shows examples.
func (exportCmd) Help() string {
	return `Writes one memory a line as JSON, with --json one array; stillso import reads both
back. Secrets are taken out once more on the way.

Examples:
  stillso export memories.jsonl
  stillso export --namespace project | wc -l`
}

// exported is what export did. Without a file the memories themselves are the
// output, so there is no summary to print.
type exported struct {
	File     string `json:"file"`
	Memories int    `json:"memories"`
}

func (c *exportCmd) run(ctx context.Context, a *app) (summary, error) {
	st, err := a.store(ctx)
	if err != nil {
		return nil, err
	}
	var f stillso.Filter
	if c.Namespace != "all" && c.Namespace != "" {
		if f.Namespaces, err = a.readNamespaces(c.Namespace, c.Dir); err != nil {
			return nil, err
		}
	}
	ms, err := st.Memories(ctx, f)
	if err != nil {
		return nil, err
	}
	for i, m := range ms {
		ms[i] = m.Clone()
		redactMemory(ms[i])
	}
	form := files.Lines
	if strings.EqualFold(filepath.Ext(c.File), ".json") || c.File == "" && a.json { // one document, as everywhere
		form = files.Array
	}
	var b bytes.Buffer
	n, err := files.WriteExport(&b, ms, form, c.All)
	if err != nil {
		return nil, err
	}
	data := escapeUnsafe(b.String())
	if c.File == "" {
		_, err := a.std.out.Write(data)
		return nil, err
	}
	if st, err := os.Stat(filepath.Dir(c.File)); err != nil || !st.IsDir() {
		return nil, usagef("cannot write %s: there is no directory %s; make it first", c.File, filepath.Dir(c.File))
	}
	write := maybe.WriteFile
	if st, err := os.Stat(c.File); err == nil && !st.Mode().IsRegular() {
		if st.IsDir() {
			return nil, usagef("cannot write %s: it is a directory; name a file in it", c.File)
		}
		write = writeInto // a pipe or a device must stay what it is
	}
	if err := write(c.File, data, 0o600); err != nil {
		return nil, usagef("cannot write %s: %w; nothing was changed there", c.File, err)
	}
	return &exported{File: c.File, Memories: n}, nil
}

func (e *exported) text(p *page) {
	p.printf("wrote %s to %s\n", plural(e.Memories, "memory", "memories"), e.File)
}

// writeInto writes into what is no plain file: that must not be replaced by one.
func writeInto(path string, data []byte, _ os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0) // #nosec G304 -- the person named it
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
}
