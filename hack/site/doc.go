// Command site renders the Markdown files of the repository as static HTML: README.md and docs/ with what they lead to.
//
//	make docs
//
// Its tests hold the files to what they speak of: links and anchors lead somewhere, code is that of a file, and the commands of the
// tutorial are executed in an empty folder.
package main
