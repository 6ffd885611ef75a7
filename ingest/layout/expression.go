package layout

import (
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
)

// An expression is what a mapping says that a field, a condition or a list is: a text in the language of
// expr-lang/expr over the columns of a row. It does not change, so workers may share it.
type expression struct {
	source    string
	columns   []string     // that it names, in their order
	column    string       // the first of them, with the path that leads into it, for messages
	variables []string     // by which the program knows them
	program   *vm.Program  // nil for a column alone
	result    reflect.Type // of the program
	names     []string     // what the names are of that it reads, such as person

	uses map[string]*columnUse // by the name of the column, or of the element
}

// A columnUse is what an expression reads of a column.
type columnUse struct {
	times  int      // that it names the column
	fields []string // of the object that the column is, one for each time that it reads a field alone
}

// whole reports whether the expression reads the column as a whole.
func (u *columnUse) whole() bool { return u.times > len(u.fields) }

// use returns the use of a column, which it adds.
func (e *expression) use(column string) *columnUse {
	if e.uses == nil {
		e.uses = map[string]*columnUse{}
	}
	if e.uses[column] == nil {
		e.uses[column] = &columnUse{}
	}
	return e.uses[column]
}

// rawJSON is the JSON text of a value: a cell, or what a function made for a field as a whole.
type rawJSON string

// A site is where an expression stands: what its functions must know.
type site struct {
	aliases map[string]aliases
	kind    fragment.Kind // of the record; 0 for none
	numbers numberReader  // of the table
	ordered bool          // the elements of the field have an order, as the cast has
}

// Names that are no columns.
const (
	rowName     = "row"     // row["Runtime (mins)"] is a column whose name is no word
	elementName = "element" // of the list of each
	placeName   = "place"   // of the element in its list, from 0

	columnPrefix  = "column "          // of the variables of columns, so that these may be called like functions
	namesVariable = "names of the row" // the *evaluator, for functions of names
)

// newExpression compiles a text.
func newExpression(source string, at *site, options ...expr.Option) (*expression, error) {
	if strings.TrimSpace(source) == "" {
		return nil, errors.New("want an expression, such as the name of a column, found nothing")
	}
	e := &expression{source: source}
	p := &patcher{site: at, expression: e, raw: map[ast.Node]bool{}}
	program, err := expr.Compile(source, slices.Concat(language(), options, []expr.Option{expr.Patch(p), expr.Patch((*nestedPatcher)(p))})...)
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
	if _, alone := root.(*ast.IdentifierNode); !alone {
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

// isColumn reports whether the expression is a column, or something in it, that nothing is made of.
func (e *expression) isColumn() bool { return e.program == nil }

// columnPath matches an expression that is a column, or a path into one.
var columnPath = regexp.MustCompile(`^[\pL_][\pL\d_]*(\??\.[\pL_][\pL\d_]*)*$`)

// language is the options of all expressions: our functions, and none whose value depends on more than the row.
var language = sync.OnceValue(func() []expr.Option {
	out := []expr.Option{expr.Env(map[string]any{}), expr.AllowUndefinedVariables(), expr.DisableBuiltin("now")}
	for i := range functions {
		f := &functions[i]
		call := func(params ...any) (any, error) { return f.call(params[0], params[1], params[2].(*evaluator)) }
		out = append(out, expr.DisableBuiltin(f.name), expr.Function(f.name, call, f.is))
	}
	return append(out, expr.Function(decoded, func(params ...any) (any, error) { return decode(string(params[0].(rawJSON))), nil }))
})

// decoded is the function that makes values of JSON text. Its name is none that a mapping can have.
const decoded = "value of JSON"

// plainError is an error of the language on one line, or the error of a function of ours in it.
func plainError(err error) error {
	var at *file.Error
	if !errors.As(err, &at) {
		return err
	}
	var kind *reflect.ValueError
	switch {
	case errors.As(at.Prev, &kind): // map, filter and others of what has no elements
		return errors.New("want a list")
	case at.Prev != nil:
		return at.Prev
	case strings.HasPrefix(at.Message, "cannot fetch"), strings.HasPrefix(at.Message, "invalid operation: int(string)"): // a field of what has none
		return errors.New("want an object")
	}
	return errors.New(at.Message)
}

type visitor func(n *ast.Node)

func (v visitor) Visit(n *ast.Node) { v(n) }

// A patcher tells columns from other names, and prepares what functions are given besides the value that they read.
type patcher struct {
	*site
	expression *expression       // that is being compiled
	raw        map[ast.Node]bool // calls whose value is JSON text
	root       ast.Node
	builtins   int // of the language, so far
	errs       []error
}

// Visit is called for each node, and for those inside it before.
func (p *patcher) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		p.expression.use(n.Value).times++
		n.Value = columnPrefix + n.Value
	case *ast.VariableDeclaratorNode: // what let names is no column
		ast.Walk(&n.Expr, visitor(func(inner *ast.Node) {
			if id, ok := (*inner).(*ast.IdentifierNode); ok && id.Value == columnPrefix+n.Name {
				id.Value = n.Name
			}
		}))
	case *ast.MemberNode:
		of, ok := n.Node.(*ast.IdentifierNode)
		name, isText := n.Property.(*ast.StringNode)
		switch {
		case ok && isText && of.Value == columnPrefix+rowName:
			p.expression.use(name.Value).times++
			*node = &ast.IdentifierNode{Value: columnPrefix + name.Value}
		case ok && isText && strings.HasPrefix(of.Value, columnPrefix):
			u := p.expression.use(strings.TrimPrefix(of.Value, columnPrefix))
			u.fields = append(u.fields, name.Value)
		}
	case *ast.BuiltinNode: // of the language: nothing makes nothing, as for functions of ours
		p.builtins++
		value := &ast.IdentifierNode{Value: fmt.Sprint("$value", p.builtins)} // several may stand inside each other
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

// call returns the call of a function with its value, what it was prepared, and the names of the row.
func (p *patcher) call(name string, arguments []ast.Node) (ast.Node, error) {
	i := slices.IndexFunc(functions, func(f function) bool { return f.name == name })
	if i < 0 {
		return nil, fmt.Errorf("there is no such function: want one of %s, or one of the language", strings.Join(functionNames(), ", "))
	}
	f := &functions[i]
	if len(arguments) == 0 {
		return nil, errors.New("want a value to read, found none")
	}
	constants := make([]any, len(arguments)-1)
	for i, node := range arguments[1:] {
		var ok bool
		if constants[i], ok = constantOf(node); !ok {
			return nil, fmt.Errorf("argument %d: want a constant", i+2)
		}
	}
	var prepared any = constants
	if f.prepare == nil && len(constants) > 0 {
		return nil, fmt.Errorf("want one argument, found %d", len(arguments))
	}
	if f.prepare != nil {
		var err error
		if prepared, err = f.prepare(p, constants); err != nil {
			return nil, err
		}
	}
	call := &ast.CallNode{
		Callee:    &ast.IdentifierNode{Value: name},
		Arguments: []ast.Node{arguments[0], &ast.ConstantNode{Value: prepared}, &ast.IdentifierNode{Value: namesVariable}},
	}
	p.raw[call] = f.raw
	return call, nil
}

// constantOf returns the value of an expression without columns; false for others.
func constantOf(node ast.Node) (any, bool) {
	value, err := expr.Eval(node.String(), nil)
	return value, err == nil
}

// A nestedPatcher decodes the JSON texts that are not the value of the expression, so that the language can look into
// them.
type nestedPatcher patcher

// Visit is that of patcher.
func (p *nestedPatcher) Visit(node *ast.Node) {
	if *node != p.root && p.raw[*node] {
		*node = &ast.CallNode{Callee: &ast.IdentifierNode{Value: decoded}, Arguments: []ast.Node{*node}}
	}
}

// An evaluator runs expressions for the rows of one worker.
type evaluator struct {
	ids  *identifier // of what names stand for
	vm   vm.VM
	env  map[string]any
	left []leftNames  // of the names that the last expression read
	read []pythonText // of the row: several fields may come of one cell
}

// A pythonText is a Python literal and its JSON.
type pythonText struct {
	text string
	json rawJSON
}

func newEvaluator(ids *identifier) *evaluator {
	v := &evaluator{ids: ids, env: map[string]any{}}
	v.env[namesVariable] = v
	return v
}

// value returns the value of an expression for a row: nil where all columns that it names are empty, so that
// nothing of it is run.
func (v *evaluator) value(e *expression, row *boundRow) (any, error) {
	v.left = v.left[:0]
	if e.isColumn() {
		if cell := row.cell(e.columns[0]); cell != "" {
			return rawJSON(cell), nil
		}
		return nil, nil
	}
	given := len(e.columns) == 0
	for i, column := range e.columns {
		value := row.value(column)
		if text, ok := value.(string); ok && strings.TrimSpace(text) == "" {
			value = nil
		}
		v.env[e.variables[i]] = value
		given = given || value != nil && column != placeName
	}
	if !given {
		return nil, nil
	}
	return v.run(e)
}

// run runs a program with the columns that were set.
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
