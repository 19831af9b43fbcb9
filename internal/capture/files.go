package capture

import (
	"path"
	"slices"
	"strings"
)

// maxFiles bounds the related files of one memory.
const maxFiles = 8

// relative makes file names relative to the root of the repository, with slashes,
// and drops those that lie outside it or are no file names.
func relative(files []string, root string) []string {
	root = strings.TrimSuffix(strings.ReplaceAll(root, `\`, "/"), "/")
	var out []string
	for _, f := range files {
		f = strings.TrimPrefix(strings.TrimSpace(strings.ReplaceAll(f, `\`, "/")), "@")
		if f == "" || len(f) > 200 || strings.Contains(f, "://") || strings.ContainsAny(f, "\x00\n\r\t<>|\"?*`") {
			continue
		}
		if root != "" {
			if rest, ok := strings.CutPrefix(f, root+"/"); ok {
				f = rest
			} else if f == root {
				continue
			}
		}
		drive := len(f) > 1 && f[1] == ':'
		if f = path.Clean(f); f == "." || drive || f[0] == '/' || f[0] == '~' || f == ".." || strings.HasPrefix(f, "../") {
			continue
		}
		if len(out) < maxFiles && !slices.Contains(out, f) {
			out = append(out, f)
		}
	}
	return out
}
