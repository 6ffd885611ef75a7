// A module of its own: reelsplice does not require the client that it is tried with.
module github.com/reelsplice/reelsplice/scripts/clients/golang-tmdb

go 1.26

require github.com/cyruzin/golang-tmdb v1.8.0

require (
	github.com/json-iterator/go v1.1.12 // indirect
	github.com/modern-go/concurrent v0.0.0-20180306012644-bacd9c7ef1dd // indirect
	github.com/modern-go/reflect2 v1.0.2 // indirect
)
