package main

// product is the one place that says what a release is made of.
var product = struct {
	name, summary, description, licence, maintainer, homepage, downloads string
	binaries                                                             []string
	targets                                                              []target
	nfpm                                                                 string
}{
	name:        "stillso",
	summary:     "Long-term memory for AI coding assistants",
	description: "Long-term memory for AI coding assistants: recalls in milliseconds, silent when it has nothing to say.",
	licence:     "Apache-2.0",
	maintainer:  "stillso maintainers <maintainers@stillso.example>",
	homepage:    "https://stillso.example",
	downloads:   "https://stillso.example/releases",
	binaries:    []string{"stillso", "stillso-hook"},
	targets: []target{
		{"linux", "amd64"},
		{"linux", "arm64"},
		{"darwin", "amd64"},
		{"darwin", "arm64"},
		{"windows", "amd64"},
		{"windows", "arm64"},
	},
	// The packager of deb and rpm is run, not linked: its modules stay out of ours.
	nfpm: "github.com/goreleaser/nfpm/v2/cmd/nfpm@v2.48.0",
}

// target is one system that a release is built for.
type target struct{ os, arch string }

// exe returns the file name of a binary.
func (t target) exe(binary string) string {
	if t.os == "windows" {
		return binary + ".exe"
	}
	return binary
}

// file is one file of an archive or package. mode is 0755 for programs, else 0644.
type file struct {
	name string // with slashes
	mode int64
	data []byte
}
