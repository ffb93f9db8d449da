// Command site renders the Markdown files of the repository as static HTML: README.md, docs/ and the pages that they link.
//
//	make docs
//
// Its tests check the files: links and anchors have a target, code is that of a file, and the commands of the tutorial work in an empty
// folder.
package main
