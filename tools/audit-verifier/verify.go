package main

import (
	"bufio"
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"golang.org/x/mod/sumdb/note"
)

const (
	holds       = 0
	unchecked   = 1
	unconfirmed = 3
	broken      = 6
)

const exportFormat = "drs-audit-export/1"
const proofFormat = "c2sp.org/tlog-proof@v1"

// maxLine is the length of the longest line of an export. One entry lists the events of one transaction.
const maxLine = 16 << 20

// maxFindings is the number of findings that are printed, and maxTexts that of findings which wait for a review with their
// texts. Further ones are counted only, because a login of the database can insert any number of entries.
const (
	maxFindings = 100
	maxTexts    = 10_000
)

// line is a line of an export. encoding/json reads byte strings as base64.
type line struct {
	Format     string   `json:"format"`
	Checkpoint string   `json:"checkpoint"`
	Start      *uint64  `json:"start"`
	Roots      [][]byte `json:"roots"`
	Note       string   `json:"note"`
	New        bool     `json:"new"`
	Epoch      int      `json:"epoch"`
	Leaf       *uint64  `json:"leaf"`
	Hash       []byte   `json:"hash"`
	Record     []byte   `json:"record"`
	MAC        []byte   `json:"mac"`
	Unverified bool     `json:"unverified"`
}

type checkpoint struct {
	epoch   int
	size    uint64
	root    []byte
	outside bool
}

// logKey opens the checkpoints of all epochs. Their origins are the key's name, and the name with / and a number.
type logKey struct {
	name   string
	public ed25519.PublicKey
}

func parseKey(text string) (*logKey, error) {
	verifier, err := note.NewVerifier(text)
	if err != nil {
		return nil, err
	}
	// The name contains no +. The hash and the key follow it.
	parts := strings.SplitN(text, "+", 3)
	raw, err := base64.StdEncoding.DecodeString(parts[2])
	if err != nil || len(raw) != 1+ed25519.PublicKeySize {
		return nil, errors.New("the key is not of Ed25519")
	}
	return &logKey{verifier.Name(), ed25519.PublicKey(raw[1:])}, nil
}

type result struct {
	findings  []string
	more      uint64
	size      uint64
	confirmed uint64
	waiting   int
	signed    bool
	unread    bool
}

func (r *result) find(format string, values ...any) {
	if len(r.findings) == maxFindings {
		r.more++
		return
	}
	r.findings = append(r.findings, fmt.Sprintf(format, values...))
}

func (r *result) verdict() int {
	switch {
	case len(r.findings) > 0 || r.more > 0:
		return broken
	case r.unread || (!r.signed && r.size > 0):
		return unchecked
	case r.confirmed < r.size || r.waiting > 0:
		return unconfirmed
	default:
		return holds
	}
}

// open reads a signed checkpoint, which has origin, size and root on a line each.
func (k *logKey) open(text []byte) (checkpoint, error) {
	origin, _, _ := strings.Cut(string(text), "\n")
	epoch := 1
	if origin != k.name {
		number, isEpoch := strings.CutPrefix(origin, k.name+"/")
		parsed, err := strconv.Atoi(number)
		if !isEpoch || err != nil || parsed < 2 || strconv.Itoa(parsed) != number {
			return checkpoint{}, errors.New("the checkpoint is of another log")
		}
		epoch = parsed
	}
	encoded, err := note.NewEd25519VerifierKey(origin, k.public)
	if err != nil {
		return checkpoint{}, err
	}
	verifier, err := note.NewVerifier(encoded)
	if err != nil {
		return checkpoint{}, err
	}
	opened, err := note.Open(text, note.VerifierList(verifier))
	if err != nil {
		return checkpoint{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != origin {
		return checkpoint{}, errors.New("the checkpoint is of another log")
	}
	size, err := strconv.ParseUint(lines[1], 10, 64)
	if err != nil {
		return checkpoint{}, err
	}
	root, err := base64.StdEncoding.DecodeString(lines[2])
	return checkpoint{epoch: epoch, size: size, root: root}, err
}

func readLines(export io.Reader, each func(line) error) error {
	scanner := bufio.NewScanner(export)
	scanner.Buffer(nil, maxLine)
	for first := true; scanner.Scan(); first = false {
		var item line
		if err := json.Unmarshal(scanner.Bytes(), &item); err != nil {
			return err
		}
		if first != (item.Format != "") || (first && item.Format != exportFormat) {
			return fmt.Errorf("the file is no export in the format %s", exportFormat)
		}
		if !first {
			if err := each(item); err != nil {
				return err
			}
		}
	}
	return scanner.Err()
}

func leafOf(item line) []byte {
	return rfc6962.DefaultHasher.HashLeaf(append(append([]byte{}, item.Record...), item.MAC...))
}

func rootOf(tree *compact.Range) ([]byte, error) {
	if tree.End() == 0 {
		return rfc6962.DefaultHasher.EmptyRoot(), nil
	}
	return tree.GetRootHash(nil)
}

// log is the state of a verification: the tree of the current epoch, and the results of earlier epochs.
type log struct {
	*result
	key      *logKey
	factory  compact.RangeFactory
	epoch    int
	tree     *compact.Range
	expected []checkpoint
	// The number of leaves in earlier epochs, how many of them are confirmed, and the number of leaves in the current
	// epoch.
	earlier, earlierConfirmed, present uint64
	// Findings until a review is closed: begun epochs by the ids of their entries, and leaves whose entries had no valid
	// MAC by their hashes. The text is empty after maxTexts of them.
	open map[string]string
	// The epoch and size of the start, until an entry says that the leaves before it were pruned.
	unexplained *[2]string
}

// verifyExport hashes all entries again and compares the trees with every checkpoint.
func verifyExport(keyText string, outside [][]byte, export io.Reader) (*result, error) {
	key, err := parseKey(keyText)
	if err != nil {
		return nil, err
	}
	found := &result{}
	factory := compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}
	l := &log{result: found, key: key, factory: factory, epoch: 1, tree: factory.NewEmptyRange(0),
		expected: openOutside(key, outside, found), open: map[string]string{}}
	err = readLines(export, l.add)
	for _, one := range l.expected {
		found.find("a checkpoint kept outside has %d entries of epoch %d, the log has %d of epoch %d", one.size, one.epoch, l.tree.End(), l.epoch)
	}
	if l.unexplained != nil {
		found.find("the log starts after %s leaves of epoch %s, and no entry says that they were pruned", l.unexplained[1], l.unexplained[0])
	}
	for _, what := range slices.Sorted(maps.Values(l.open)) {
		if what == "" {
			found.more++
		} else {
			found.find("%s", what)
		}
	}
	found.size = l.earlier + l.tree.End()
	found.confirmed = l.earlierConfirmed + l.present
	return found, err
}

func (l *log) findUntilReview(key, what string) {
	if len(l.open) >= maxTexts && l.open[key] == "" {
		what = ""
	}
	l.open[key] = what
}

func (l *log) add(item line) error {
	switch {
	case item.Start != nil:
		return l.startAfter(item)
	case item.Checkpoint != "":
		one, err := l.key.open([]byte(item.Checkpoint))
		if err != nil || one.epoch != l.epoch {
			l.find("a checkpoint after entry %d is not of epoch %d: %v", l.tree.End(), l.epoch, err)
			return nil
		}
		return l.compare(one)
	case item.New:
		l.waiting++
		l.review(item)
		return nil
	case item.Leaf == nil:
		return errors.New("a line of the export is neither an entry nor a checkpoint")
	}
	if epoch := max(item.Epoch, 1); epoch != l.epoch {
		if err := l.start(epoch, item); err != nil {
			return err
		}
	}
	if *item.Leaf != l.tree.End() {
		l.find("leaf %d is where leaf %d should be", *item.Leaf, l.tree.End())
	}
	if item.Record == nil {
		l.find("the entry of leaf %d is missing", *item.Leaf)
	} else if !bytes.Equal(leafOf(item), item.Hash) {
		l.find("the entry of leaf %d was changed", *item.Leaf)
	} else if item.Unverified {
		l.findUntilReview(hex.EncodeToString(item.Hash), fmt.Sprintf("the entry of leaf %d had no valid MAC", *item.Leaf))
	}
	if !item.Unverified {
		l.review(item)
	}
	if err := l.tree.Append(item.Hash, nil); err != nil {
		return err
	}
	return l.compareExpected()
}

func (l *log) compareExpected() error {
	for len(l.expected) > 0 && l.expected[0].epoch == l.epoch && l.expected[0].size <= l.tree.End() {
		if err := l.compare(l.expected[0]); err != nil {
			return err
		}
		l.expected = l.expected[1:]
	}
	return nil
}

func (l *log) compare(one checkpoint) error {
	root, err := rootOf(l.tree)
	if err != nil {
		return err
	}
	if one.size != l.tree.End() || !bytes.Equal(root, one.root) {
		l.find("the first %d entries are not those of a checkpoint of %d", l.tree.End(), one.size)
		return nil
	}
	l.signed = true
	if one.outside {
		// The first entry of an epoch names the end of the previous epoch.
		l.present, l.earlierConfirmed = one.size, l.earlier
	}
	return nil
}

// start begins an epoch, whose first entry names the end of the previous one.
func (l *log) start(epoch int, item line) error {
	root, err := rootOf(l.tree)
	if err != nil {
		return err
	}
	kept, continued, id := l.readStart(epoch, item)
	if kept == nil {
		l.find("epoch %d does not begin with the entry that starts it", epoch)
	} else {
		isEnd := l.tree.End() == 0
		if continued != nil {
			isEnd = continued.epoch == l.epoch && continued.size == l.tree.End() && bytes.Equal(continued.root, root)
		}
		if !isEnd {
			l.find("the leaves of epoch %d differ from what the next epoch names", l.epoch)
		}
		l.findUntilReview(id, fmt.Sprintf("epoch %d follows a restore: %d entries of epoch %d were kept outside, the database had %d of epoch %d",
			epoch, kept.size, kept.epoch, l.tree.End(), l.epoch))
	}
	for len(l.expected) > 0 && l.expected[0].epoch < epoch {
		if lost := l.expected[0]; kept == nil || (lost.epoch == kept.epoch && lost.size > kept.size) {
			l.find("a checkpoint kept outside has %d entries of epoch %d, which the log lacks", lost.size, lost.epoch)
		}
		l.expected = l.expected[1:]
	}
	l.earlier += l.tree.End()
	l.earlierConfirmed += l.present
	l.epoch, l.present, l.tree = epoch, 0, l.factory.NewEmptyRange(0)
	return nil
}

func (l *log) readStart(epoch int, item line) (kept, continued *checkpoint, id string) {
	entry, ok := readEntry(item.Record)
	if !ok || entry.operation != "audit.epoch" || entry.references["epoch"] != strconv.Itoa(epoch) {
		return nil, nil, ""
	}
	one, err := l.key.open([]byte(entry.references["kept"]))
	if err != nil || one.epoch >= epoch {
		return nil, nil, ""
	}
	text, has := entry.references["continued"]
	if !has {
		return &one, nil, entry.id
	}
	end, err := l.key.open([]byte(text))
	if err != nil {
		return nil, nil, ""
	}
	return &one, &end, entry.id
}

func (l *log) review(item line) {
	if entry, ok := readEntry(item.Record); ok && entry.operation == "audit.review" && entry.outcome == "closed" {
		delete(l.open, entry.references["entry_id"])
		delete(l.open, entry.references["leaf_hash"])
	} else if ok && l.unexplained != nil && entry.operation == "audit.prune" &&
		[2]string{entry.references["epoch"], entry.references["size"]} == *l.unexplained {
		l.unexplained = nil
	}
}

// startAfter continues from the hashes of leaves that were pruned. A checkpoint must sign these hashes.
func (l *log) startAfter(item line) error {
	epoch, size := max(item.Epoch, 1), *item.Start
	l.unexplained = &[2]string{strconv.Itoa(epoch), strconv.FormatUint(size, 10)}
	tree, err := l.factory.NewRange(0, size, item.Roots)
	if err != nil {
		return err
	}
	root, err := rootOf(tree)
	if err != nil {
		return err
	}
	one, err := l.key.open([]byte(item.Note))
	if err != nil || one.epoch != epoch || one.size != size || !bytes.Equal(one.root, root) {
		l.find("the hashes of the first %d leaves are not signed by the checkpoint of the start", size)
	}
	l.signed = true
	l.epoch, l.tree = epoch, tree
	for len(l.expected) > 0 && (l.expected[0].epoch < epoch || (l.expected[0].epoch == epoch && l.expected[0].size < size)) {
		l.expected = l.expected[1:]
	}
	return l.compareExpected()
}

const recordFormat = "drs-audit/1\n"
const absent = 0xffffffff

type entry struct {
	id, operation, outcome string
	references             map[string]string
}

// readEntry reads the fields of a record that are needed here. A field consists of its length in 32 bits and its bytes.
func readEntry(record []byte) (entry, bool) {
	rest, ok := bytes.CutPrefix(record, []byte(recordFormat))
	if !ok {
		return entry{}, false
	}
	var fields [][]byte
	for len(rest) >= 4 {
		length := binary.BigEndian.Uint32(rest)
		rest = rest[4:]
		if length == absent {
			fields = append(fields, nil)
			continue
		}
		if uint64(length) > uint64(len(rest)) {
			return entry{}, false
		}
		fields, rest = append(fields, rest[:length]), rest[length:]
	}
	if len(fields) != 21 || len(fields[0]) != 16 {
		return entry{}, false
	}
	read := entry{operation: string(fields[8]), outcome: string(fields[9]), references: map[string]string{}}
	id := fields[0]
	read.id = fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
	var detail map[string]any
	if fields[14] != nil && json.Unmarshal(fields[14], &detail) == nil {
		for name, value := range detail {
			if text, isText := value.(string); isText {
				read.references[name] = text
			}
		}
	}
	return read, true
}

func openOutside(key *logKey, texts [][]byte, found *result) []checkpoint {
	var opened []checkpoint
	for _, text := range texts {
		one, err := key.open(text)
		switch {
		case err != nil:
			found.unread = true
		case one.size > 0:
			one.outside = true
			opened = append(opened, one)
		}
	}
	sort.Slice(opened, func(one, other int) bool {
		if opened[one].epoch != opened[other].epoch {
			return opened[one].epoch < opened[other].epoch
		}
		return opened[one].size < opened[other].size
	})
	return opened
}

// verifyProof checks an inclusion proof. The entry is read from the export.
func verifyProof(keyText, text string, export io.Reader) error {
	key, err := parseKey(keyText)
	if err != nil {
		return err
	}
	head, signed, ok := strings.Cut(text, "\n\n")
	lines := strings.Split(head, "\n")
	if !ok || len(lines) < 2 || lines[0] != proofFormat {
		return fmt.Errorf("the file is no proof in the format %s", proofFormat)
	}
	index, err := strconv.ParseUint(strings.TrimPrefix(lines[1], "index "), 10, 64)
	if err != nil {
		return err
	}
	var hashes [][]byte
	for _, encoded := range lines[2:] {
		hash, err := base64.StdEncoding.DecodeString(encoded)
		if err != nil {
			return err
		}
		hashes = append(hashes, hash)
	}
	one, err := key.open([]byte(signed))
	if err != nil {
		return err
	}
	err = errors.New("the export does not have the entry of the proof")
	readErr := readLines(export, func(item line) error {
		if item.Leaf != nil && *item.Leaf == index && max(item.Epoch, 1) == one.epoch {
			err = proof.VerifyInclusion(rfc6962.DefaultHasher, index, one.size, leafOf(item), hashes, one.root)
		}
		return nil
	})
	return errors.Join(err, readErr)
}
