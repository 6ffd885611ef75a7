package main

import "slices"

// downgrade returns the document as OpenAPI 3.0, for tools that read no 3.1. It describes the same
// responses, or more where 3.0 cannot say it: fields whose name is a pattern are any further fields.
func downgrade(doc object) object {
	out := downgraded(doc)
	out.set("openapi", "3.0.3")
	info := out.get("info").(object).without("summary")
	info.set("license", object{{"name", "Apache License 2.0"}, {"url", "https://www.apache.org/licenses/LICENSE-2.0"}})
	out.set("info", info)
	return out
}

// downgraded returns an object of the document, with all below it.
func downgraded(o object) object {
	var out object
	for _, f := range o {
		switch f.name {
		case "const":
			out = append(out, field{"enum", list{f.value}})
		case "propertyNames":
		case "patternProperties":
			out = append(out, field{"additionalProperties", true})
		default:
			out = append(out, field{f.name, downgradedValue(f.value)})
		}
	}
	return nullable(out)
}

func downgradedValue(v any) any {
	switch v := v.(type) {
	case object:
		return downgraded(v)
	case list:
		out := slices.Clone(v)
		for i := range out {
			out[i] = downgradedValue(out[i])
		}
		return out
	}
	return v
}

// nullable replaces the type null.
func nullable(o object) object {
	isNull := func(v any) bool {
		member, _ := v.(object)
		return v == "null" || member != nil && member.get("type") == "null"
	}
	if types, ok := o.get("type").(list); ok {
		rest := slices.DeleteFunc(slices.Clone(types), isNull)
		switch {
		case len(rest) == 1:
			o.set("type", rest[0])
		default:
			var each list
			for _, t := range rest {
				each = append(each, object{{"type", t}})
			}
			o = o.without("type")
			o.set("anyOf", each)
		}
		if len(rest) < len(types) {
			o.set("nullable", true)
		}
	}
	if members, ok := o.get("anyOf").(list); ok {
		if rest := slices.DeleteFunc(slices.Clone(members), isNull); len(rest) < len(members) {
			o.set("nullable", true)
			if o.set("anyOf", rest); len(rest) == 1 {
				o = append(o.without("anyOf"), field{"allOf", rest})
			}
		}
	}
	return o
}
