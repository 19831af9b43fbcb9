// Command release makes everything a release consists of, for six systems, from
// the commit that is checked out: archives, packages, a formula, a bill of
// materials and checksums. Same commit and same Go, same bytes: docs/release.md.
// It is no part of the product and uses the standard library only.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
)

func main() {
	out := flag.String("out", "dist", "the folder to fill; an earlier release in it is removed")
	url := flag.String("url", product.downloads, "where the archives will stand, for the Homebrew formula")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := release(ctx, *out, *url)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1) //nolint:forbidigo // this is main
	}
}
