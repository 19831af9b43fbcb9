// Command empty is the yardstick of the speed test: the least a Go program can do.
package main

func main() {}
