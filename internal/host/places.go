package host

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Home returns the home directory that an environment names, or "".
func Home(getenv func(string) string) string {
	for _, key := range [...]string{"HOME", "USERPROFILE"} {
		if dir := getenv(key); filepath.IsAbs(dir) {
			return filepath.Clean(dir)
		}
	}
	return ""
}

// FirstFile returns the path of the first of the names that is a file in dir, or
// "".
func FirstFile(dir string, names ...string) string {
	for _, name := range names {
		path := filepath.Join(dir, name)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() {
			return path
		}
	}
	return ""
}

// Files returns the paths of all the names that are files in dir.
func Files(dir string, names ...string) (list []string) {
	for _, name := range names {
		if f := FirstFile(dir, name); f != "" {
			list = append(list, f)
		}
	}
	return list
}

// Between lists the directories from root down to dir; only dir if it is not
// below root.
func Between(root, dir string) []string {
	root, dir = filepath.Clean(root), filepath.Clean(dir)
	if rest, ok := strings.CutPrefix(dir, strings.TrimSuffix(root, string(filepath.Separator))); !ok || rest != "" && rest[0] != filepath.Separator {
		return []string{dir}
	}
	var list []string
	for at := dir; ; at = filepath.Dir(at) {
		list = append(list, at)
		if at == root || filepath.Dir(at) == at {
			break
		}
	}
	slices.Reverse(list)
	return list
}
