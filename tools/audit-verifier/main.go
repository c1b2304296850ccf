// Command audit-verifier verifies an export of the audit log, without the server and without its code.
//
//	audit-verifier -key KEY [-checkpoint FILE]... EXPORT
//	audit-verifier -key KEY -proof FILE EXPORT
//
// The exit code is that of `drs audit verify`. 0: the log is intact. 3: the log is intact, but no given checkpoint
// confirms the last entries. 6: the log is broken. 1: the log could not be checked. With -proof, the command checks that
// the export has the entry of an inclusion proof (C2SP tlog-proof) and that the proof leads to a signed checkpoint.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

type fileList []string

func (list *fileList) String() string { return fmt.Sprint([]string(*list)) }

func (list *fileList) Set(name string) error {
	*list = append(*list, name)
	return nil
}

func main() {
	code, err := run(os.Args[1:], os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	os.Exit(code)
}

func run(args []string, out io.Writer) (int, error) {
	flags := flag.NewFlagSet("audit-verifier", flag.ContinueOnError)
	key := flags.String("key", "", "the key of the log: name, hash and key, joined by +")
	proof := flags.String("proof", "", "a file with an inclusion proof")
	var checkpoints fileList
	flags.Var(&checkpoints, "checkpoint", "a file with a checkpoint that was kept outside; may be given several times")
	if err := flags.Parse(args); err != nil {
		return unchecked, err
	}
	if *key == "" || flags.NArg() != 1 {
		return unchecked, fmt.Errorf("audit-verifier -key KEY [-checkpoint FILE]... [-proof FILE] EXPORT")
	}
	var notes [][]byte
	for _, name := range checkpoints {
		text, err := os.ReadFile(name)
		if err != nil {
			return unchecked, err
		}
		notes = append(notes, text)
	}
	export, err := os.Open(flags.Arg(0))
	if err != nil {
		return unchecked, err
	}
	defer export.Close()
	if *proof != "" {
		text, err := os.ReadFile(*proof)
		if err != nil {
			return unchecked, err
		}
		if err := verifyProof(*key, string(text), export); err != nil {
			return broken, err
		}
		fmt.Fprintln(out, "The log has the entry.")
		return holds, nil
	}
	result, err := verifyExport(*key, notes, export)
	if err != nil {
		return unchecked, err
	}
	for _, finding := range result.findings {
		fmt.Fprintln(out, finding)
	}
	if result.more > 0 {
		fmt.Fprintf(out, "%d more findings\n", result.more)
	}
	fmt.Fprintf(out, "%d entries, %d confirmed by a checkpoint kept outside, %d in no checkpoint\n", result.size, result.confirmed, result.waiting)
	return result.verdict(), nil
}
