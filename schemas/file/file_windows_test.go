package file

import "github.com/reelsplice/reelsplice/schemas/sharedtest"

func init() { patience = sharedtest.Patience } // readers of a busy machine may have a file open for seconds
