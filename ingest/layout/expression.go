package layout

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/vm"

	"github.com/reelsplice/reelsplice/schemas/fragment"
	"github.com/reelsplice/reelsplice/schemas/record"
)

// An expression defines a field, a condition or a list of a mapping: a text in the language expr-lang/expr over the columns of
// a row. It is immutable, so workers share it.
type expression struct {
	source    string
	columns   []string     // in order of first use
	column    string       // first column, with the path into it, for messages
	variables []string     // the program's names of columns
	program   *vm.Program  // nil if the expression is one column
	result    reflect.Type // type of the program's result
	names     []string     // kinds of names that it looks up, such as person
	reads     []cellPath
}

// A cellPath is a column, or elementName, that an expression reads, or a field of the column's object.
type cellPath struct {
	column string
	field  string // "" for the whole column
}

// rawJSON is JSON text: a cell, or the complete value of a field as a function wrote it.
type rawJSON string

// A site is the context of an expression, which its functions need.
type site struct {
	kind    fragment.Kind // kind of the record, or 0
	numbers numberReader  // number format of the table
	ordered bool          // elements of the field have an order, as a cast does
}

// Names that are not columns.
const (
	rowName     = "row"     // row["Runtime (mins)"] is a column whose name is not a word
	elementName = "element" // current element of the list `each`
	placeName   = "place"   // index of the current element, from 0

	columnPrefix  = "column "          // prefix of column variables: a column may have the name of a function
	namesVariable = "names of the row" // the *evaluator, for functions that look up names
)

// newExpression compiles source.
func newExpression(source string, context *site, options ...expr.Option) (*expression, error) {
	if strings.TrimSpace(source) == "" {
		return nil, errors.New("want an expression, such as the name of a column, found nothing")
	}
	e := &expression{source: source}
	p := &patcher{site: context, expression: e, raw: map[ast.Node]bool{}, reads: map[cellPath]int{}}
	// Operators inside the expression read decoded JSON. The result of the expression stays text.
	nested := visitor(func(node *ast.Node) {
		if *node != p.root && p.raw[*node] {
			*node = &ast.CallNode{Callee: &ast.IdentifierNode{Value: decoded}, Arguments: []ast.Node{*node}}
		}
	})
	program, err := expr.Compile(source, slices.Concat(language(), options, []expr.Option{expr.Patch(p), expr.Patch(nested)})...)
	if p.errs != nil {
		return nil, errors.Join(p.errs...)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", strings.Join(strings.Fields(source), " "), plainError(err))
	}
	root := program.Node()
	e.result = root.Type()
	ast.Walk(&root, visitor(func(n *ast.Node) {
		id, ok := (*n).(*ast.IdentifierNode)
		if ok && strings.HasPrefix(id.Value, columnPrefix) && !slices.Contains(e.variables, id.Value) {
			e.columns = append(e.columns, strings.TrimPrefix(id.Value, columnPrefix))
			e.variables = append(e.variables, id.Value)
		}
	}))
	for path, n := range p.reads {
		if n > 0 && slices.Contains(e.columns, path.column) { // others are variables
			e.reads = append(e.reads, path)
		}
	}
	if _, isColumn := root.(*ast.IdentifierNode); !isColumn {
		e.program = program
	}
	if len(e.columns) > 0 {
		e.column = e.columns[0]
		if text := strings.TrimSpace(source); columnPath.MatchString(text) {
			e.column = strings.ReplaceAll(text, "?", "")
		}
	}
	return e, nil
}

// isColumn reports whether the expression is a column, or a path into one, and computes nothing.
func (e *expression) isColumn() bool { return e.program == nil }

// columnPath matches a column or a path into one.
var columnPath = regexp.MustCompile(`^[\pL_][\pL\d_]*(\??\.[\pL_][\pL\d_]*)*$`)

// language returns the options of all expressions: our functions, and no function that reads the clock.
var language = sync.OnceValue(func() []expr.Option {
	out := []expr.Option{expr.Env(map[string]any{}), expr.AllowUndefinedVariables(), expr.DisableBuiltin("now")}
	for i := range functions {
		f := &functions[i]
		call := func(params ...any) (any, error) {
			value := params[0]
			if text, ok := value.(string); value == nil || ok && (strings.TrimSpace(text) == "" || !f.anyText && record.IsNothing(text)) {
				return nil, nil
			}
			return params[1].(reader)(value, params[2].(*evaluator))
		}
		out = append(out, expr.DisableBuiltin(f.name), expr.Function(f.name, call, f.signature))
	}
	return append(out, expr.Function(decoded, func(params ...any) (any, error) { return decode(string(params[0].(rawJSON))), nil }))
})

// decoded is the function that decodes JSON text. Mappings cannot call it, because of the blanks in its name.
const decoded = "value of JSON"

// plainError reduces an error of expr to one line, or to the error of our function inside it.
func plainError(err error) error {
	var failure *file.Error
	if !errors.As(err, &failure) {
		return err
	}
	var kind *reflect.ValueError
	switch {
	case errors.As(failure.Prev, &kind): // map, filter or another function of a value without elements
		return errors.New("want a list")
	case failure.Prev != nil:
		return failure.Prev
	case strings.HasPrefix(failure.Message, "cannot fetch"), strings.HasPrefix(failure.Message, "invalid operation: int(string)"): // a field of a value without fields
		return errors.New("want an object")
	}
	return errors.New(failure.Message)
}

type visitor func(n *ast.Node)

func (v visitor) Visit(n *ast.Node) { v(n) }

// A patcher renames columns to variables and puts the readers of functions into their calls.
type patcher struct {
	*site
	expression *expression       // the expression being compiled
	raw        map[ast.Node]bool // calls whose value is JSON text
	reads      map[cellPath]int  // number of references so far
	root       ast.Node
	builtins   int // calls of expr's own functions so far
	errs       []error
}

// Visit rewrites a node. Its children come first.
func (p *patcher) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		p.reads[cellPath{column: n.Value}]++
		n.Value = columnPrefix + n.Value
	case *ast.VariableDeclaratorNode: // a name declared by let is not a column
		ast.Walk(&n.Expr, visitor(func(inner *ast.Node) {
			if id, ok := (*inner).(*ast.IdentifierNode); ok && id.Value == columnPrefix+n.Name {
				id.Value = n.Name
			}
		}))
	case *ast.MemberNode:
		object, ok := n.Node.(*ast.IdentifierNode)
		name, isText := n.Property.(*ast.StringNode)
		switch {
		case ok && isText && object.Value == columnPrefix+rowName:
			p.reads[cellPath{column: name.Value}]++
			*node = &ast.IdentifierNode{Value: columnPrefix + name.Value}
		case ok && isText && strings.HasPrefix(object.Value, columnPrefix):
			column := strings.TrimPrefix(object.Value, columnPrefix)
			p.reads[cellPath{column: column}]--
			p.reads[cellPath{column, name.Value}]++
		}
	case *ast.BuiltinNode: // as for our functions, nil gives nil
		p.builtins++
		value := &ast.IdentifierNode{Value: fmt.Sprint("$value", p.builtins)} // unique: calls may be nested
		argument := n.Arguments[0]
		n.Arguments[0] = value
		*node = &ast.VariableDeclaratorNode{Name: value.Value, Value: argument, Expr: &ast.ConditionalNode{
			Cond: &ast.BinaryNode{Operator: "==", Left: value, Right: &ast.NilNode{}}, Exp1: &ast.NilNode{}, Exp2: n,
		}}
	case *ast.CallNode:
		callee, ok := n.Callee.(*ast.IdentifierNode)
		if !ok {
			p.errs = append(p.errs, errors.New("want the name of a function before ("))
			break
		}
		name := strings.TrimPrefix(callee.Value, columnPrefix)
		call, err := p.call(name, n.Arguments)
		if err != nil {
			p.errs = append(p.errs, fmt.Errorf("%s: %w", name, err))
			break
		}
		*node = call
	}
	p.root = *node
}

// call returns the call of a function with its value, its reader and the evaluator.
func (p *patcher) call(name string, arguments []ast.Node) (ast.Node, error) {
	i := slices.IndexFunc(functions, func(f function) bool { return f.name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no such function: want one of %s, or one of the language", strings.Join(functionNames(), ", "))
	}
	if len(arguments) == 0 {
		return nil, errors.New("want a value to read, found none")
	}
	constants := make([]any, len(arguments)-1)
	for i, node := range arguments[1:] {
		value, err := expr.Eval(node.String(), nil)
		if err != nil {
			return nil, fmt.Errorf("argument %d: want a constant", i+2)
		}
		constants[i] = value
	}
	f, site := &functions[i], p.site
	var read reader = func(value any, v *evaluator) (any, error) { return f.read(site, value, v) }
	switch {
	case f.newReader != nil:
		var err error
		if read, err = f.newReader(p, constants); err != nil {
			return nil, err
		}
	case len(constants) > 0 && f.numeric:
		return nil, errors.New("want one argument: decimal, thousands and scale are keys of the table")
	case len(constants) > 0:
		return nil, fmt.Errorf("want one argument, found %d", len(constants)+1)
	}
	call := &ast.CallNode{
		Callee:    &ast.IdentifierNode{Value: name},
		Arguments: []ast.Node{arguments[0], &ast.ConstantNode{Value: read}, &ast.IdentifierNode{Value: namesVariable}},
	}
	p.raw[call] = f.raw
	return call, nil
}

// An evaluator runs expressions for the rows of one worker.
type evaluator struct {
	ids       *identifier // resolves names to IDs
	names     *dictionary
	vm        vm.VM
	env       map[string]any
	unmatched []unmatchedNames   // names that the last expression did not resolve
	literals  map[string]rawJSON // Python literals of the row: several fields may read one cell
}

// newEvaluator returns an evaluator with the names of options.
func newEvaluator(ids *identifier, o *Options) *evaluator {
	v := &evaluator{ids: ids, names: cmp.Or(o.dictionary, readyNames()), env: map[string]any{}, literals: map[string]rawJSON{}}
	v.env[namesVariable] = v
	return v
}

// value returns the value of an expression for a row. If all its columns are empty, it returns nil without running the program.
func (v *evaluator) value(e *expression, row *row) (any, error) {
	v.unmatched = v.unmatched[:0]
	if e.isColumn() {
		if cell := row.cell(e.columns[0]); cell != "" {
			return rawJSON(cell), nil
		}
		return nil, nil
	}
	hasValue := len(e.columns) == 0
	for i, name := range e.columns {
		c := row.column(name)
		if !c.decoded {
			c.value, c.decoded = decode(c.raw), true
		}
		value := c.value
		if text, ok := value.(string); ok && strings.TrimSpace(text) == "" {
			value = nil
		}
		v.env[e.variables[i]] = value
		hasValue = hasValue || value != nil && name != placeName
	}
	if !hasValue {
		return nil, nil
	}
	return v.run(e)
}

// run runs a program with the variables in env.
func (v *evaluator) run(e *expression) (any, error) {
	out, err := v.vm.Run(e.program, v.env)
	if err != nil {
		return nil, plainError(err)
	}
	return out, nil
}

func functionNames() (out []string) {
	for i := range functions {
		out = append(out, functions[i].name)
	}
	return out
}
