module audit-verifier

go 1.24.0

require (
	github.com/transparency-dev/merkle v0.0.2
	golang.org/x/mod v0.30.0
)
