package iceberg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	ice "github.com/apache/iceberg-go"
	"github.com/apache/iceberg-go/table"
)

// Schema evolution changes metadata only: no data file is rewritten. Columns
// are known by their ids, so that a dropped and re-added name is a new column
// (Iceberg spec, "Schema Evolution").
//
// A column is addressed by its path, parts joined by dots: fields of structs by
// name, the elements of a list as "element", those of a map as "key" and
// "value". A column whose own name has a dot is found by its whole name first.

// AddColumn adds a column at the end of the table, or, when under is not empty,
// of the struct with that path. Existing rows read its initial default. A
// required column needs a default.
func (t *Table) AddColumn(ctx context.Context, under string, col Column) error {
	return t.evolve(ctx, "add column "+col.Name, func(e *evolution) error {
		f, err := col.field()
		if err != nil {
			return err
		}
		f.InitialDefault = f.WriteDefault
		if col.InitialDefault != nil {
			if f.InitialDefault, err = normalizeDefault(col.Type, col.InitialDefault); err != nil {
				return invalidf("column %q: initial default: %v", col.Name, err)
			}
		}
		if f.Required && (f.InitialDefault == nil || f.WriteDefault == nil) {
			return invalidf("column %q is required and needs a default", col.Name)
		}
		f.ID = e.nextID()
		f.Type = numberType(f.Type, e.nextID)
		if under == "" {
			return e.insert(&e.fields, f)
		}
		return e.update(under, func(parent *ice.NestedField) error {
			st, ok := parent.Type.(*ice.StructType)
			if !ok {
				return invalidf("column %q is no struct", under)
			}
			return e.insert(&st.FieldList, f)
		})
	})
}

// RenameColumn gives a column another name within its parent.
func (t *Table) RenameColumn(ctx context.Context, path, name string) error {
	return t.evolve(ctx, "rename column "+path, func(e *evolution) error {
		return e.withSiblings(path, func(siblings *[]ice.NestedField, i int) error {
			if name == "" || slices.ContainsFunc(*siblings, func(f ice.NestedField) bool { return f.Name == name }) {
				return invalidf("cannot rename %q to %q: the name is taken or empty", path, name)
			}
			(*siblings)[i].Name = name
			return nil
		})
	})
}

// WidenColumn changes the type of a column to one that holds all its values:
// int to long, float to double, a decimal to one of more digits (Iceberg spec,
// "Schema Evolution", type promotion).
func (t *Table) WidenColumn(ctx context.Context, path string, to ice.Type) error {
	return t.evolve(ctx, "widen column "+path, func(e *evolution) error {
		return e.update(path, func(f *ice.NestedField) error {
			if !canWiden(f.Type, to) {
				return invalidf("column %q of type %s cannot become %s", path, f.Type, to)
			}
			f.Type = to
			return nil
		})
	})
}

func canWiden(from, to ice.Type) bool {
	switch from := from.(type) {
	case ice.Int32Type:
		return to.Equals(ice.Int64Type{})
	case ice.Float32Type:
		return to.Equals(ice.Float64Type{})
	case ice.DecimalType:
		d, ok := to.(ice.DecimalType)
		return ok && d.Scale() == from.Scale() && d.Precision() >= from.Precision()
	case ice.UnknownType:
		_, nested := to.(ice.NestedType)
		return !nested
	}
	return false
}

// DropColumn removes a column. Its values stay in the files, unread.
func (t *Table) DropColumn(ctx context.Context, path string) error {
	return t.evolve(ctx, "drop column "+path, func(e *evolution) error {
		return e.withSiblings(path, func(siblings *[]ice.NestedField, i int) error {
			if len(*siblings) == 1 {
				return invalidf("column %q is the last one", path)
			}
			if err := e.unused((*siblings)[i]); err != nil {
				return err
			}
			*siblings = slices.Delete(*siblings, i, i+1)
			return nil
		})
	})
}

// SetDefault changes the write default of a column; nil makes it null, which a
// required column does not take. Rows that exist keep what they read: the
// initial default never changes.
func (t *Table) SetDefault(ctx context.Context, path string, value any) error {
	return t.evolve(ctx, "set the default of "+path, func(e *evolution) error {
		return e.update(path, func(f *ice.NestedField) error {
			if value == nil && f.Required {
				return invalidf("column %q is required: its default cannot be null", path)
			}
			def, err := normalizeDefault(f.Type, value)
			if err != nil {
				return invalidf("column %q: default: %v", path, err)
			}
			f.WriteDefault = def
			return nil
		})
	})
}

// MakeOptional lets a column hold null.
func (t *Table) MakeOptional(ctx context.Context, path string) error {
	return t.evolve(ctx, "make "+path+" optional", func(e *evolution) error {
		return e.update(path, func(f *ice.NestedField) error {
			f.Required = false
			return nil
		})
	})
}

// SetProperties sets table properties.
func (t *Table) SetProperties(ctx context.Context, props map[string]string) error {
	return t.commitUpdates(ctx, "set properties", func(table.Metadata) ([]table.Update, []table.Requirement, error) {
		return []table.Update{table.NewSetPropertiesUpdate(props)}, nil, nil
	})
}

// evolution is a copy of a schema that is being changed.
type evolution struct {
	meta   table.Metadata
	fields []ice.NestedField
	last   int
}

func (e *evolution) nextID() int {
	e.last++
	return e.last
}

func (e *evolution) insert(list *[]ice.NestedField, f ice.NestedField) error {
	if slices.ContainsFunc(*list, func(o ice.NestedField) bool { return o.Name == f.Name }) {
		return invalidf("there is a column %q already", f.Name)
	}
	*list = append(*list, f)
	return nil
}

// update calls fn with the field at path.
func (e *evolution) update(path string, fn func(*ice.NestedField) error) error {
	return e.withSiblings(path, func(siblings *[]ice.NestedField, i int) error { return fn(&(*siblings)[i]) })
}

// withSiblings calls fn with the list of fields that holds the one at path.
func (e *evolution) withSiblings(path string, fn func(siblings *[]ice.NestedField, i int) error) error {
	return walkPath(&e.fields, path, path, fn)
}

func walkPath(list *[]ice.NestedField, whole, path string, fn func(*[]ice.NestedField, int) error) error {
	if i := slices.IndexFunc(*list, func(f ice.NestedField) bool { return f.Name == path }); i >= 0 {
		return fn(list, i)
	}
	for i := range *list {
		f := &(*list)[i]
		rest, ok := strings.CutPrefix(path, f.Name+".")
		if !ok {
			continue
		}
		return walkInto(f, whole, rest, fn)
	}
	return invalidf("there is no column %q", whole)
}

// walkInto goes on inside a nested type and puts the changed parts back.
func walkInto(f *ice.NestedField, whole, path string, fn func(*[]ice.NestedField, int) error) error {
	switch t := f.Type.(type) {
	case *ice.StructType:
		return walkPath(&t.FieldList, whole, path, fn)
	case *ice.ListType:
		parts := []ice.NestedField{t.ElementField()}
		err := walkPath(&parts, whole, path, fn)
		if err == nil && (len(parts) != 1 || parts[0].Name != "element") {
			return invalidf("the element of a list cannot be renamed or dropped")
		}
		t.Element, t.ElementRequired = parts[0].Type, parts[0].Required
		return err
	case *ice.MapType:
		parts := []ice.NestedField{t.KeyField(), t.ValueField()}
		err := walkPath(&parts, whole, path, fn)
		if err == nil && (len(parts) != 2 || parts[0].Name != "key" || parts[1].Name != "value") {
			return invalidf("the key and value of a map cannot be renamed or dropped")
		}
		if err == nil && !parts[0].Type.Equals(t.KeyType) {
			return invalidf("the key of a map cannot change")
		}
		if err == nil {
			t.ValueType, t.ValueRequired = parts[1].Type, parts[1].Required
		}
		return err
	}
	return invalidf("there is no column %q", whole)
}

// unused fails when a column, or one inside it, is a source of the partition
// spec or the sort order, or an identifier.
func (e *evolution) unused(f ice.NestedField) error {
	ids := map[int]bool{f.ID: true}
	collectIDs(f.Type, ids)
	spec := e.meta.PartitionSpec()
	for _, p := range spec.Fields() {
		if ids[p.SourceID()] {
			return invalidf("column %q partitions the table", f.Name)
		}
	}
	for _, s := range e.meta.SortOrder().Fields() {
		if ids[s.SourceID()] {
			return invalidf("column %q sorts the table", f.Name)
		}
	}
	for _, id := range e.meta.CurrentSchema().IdentifierFieldIDs {
		if ids[id] {
			return invalidf("column %q identifies rows", f.Name)
		}
	}
	return nil
}

func collectIDs(t ice.Type, ids map[int]bool) {
	if n, ok := t.(ice.NestedType); ok {
		for _, f := range n.Fields() {
			ids[f.ID] = true
			collectIDs(f.Type, ids)
		}
	}
}

// evolve changes the schema by edit, again on each attempt.
func (t *Table) evolve(ctx context.Context, what string, edit func(*evolution) error) error {
	return t.commitUpdates(ctx, what, func(meta table.Metadata) ([]table.Update, []table.Requirement, error) {
		old := meta.CurrentSchema()
		e := &evolution{meta: meta, fields: old.Fields(), last: meta.LastColumnID()}
		if err := edit(e); err != nil {
			return nil, nil, err
		}
		schema := ice.NewSchemaWithIdentifiers(nextSchemaID(meta), old.IdentifierFieldIDs, e.fields...)
		updates := []table.Update{table.NewAddSchemaUpdate(schema), table.NewSetCurrentSchemaUpdate(-1)}
		reqs := []table.Requirement{
			table.AssertCurrentSchemaID(old.ID),
			table.AssertLastAssignedFieldID(meta.LastColumnID()),
		}
		return updates, reqs, nil
	})
}

func nextSchemaID(meta table.Metadata) int {
	id := 0
	for _, s := range meta.Schemas() {
		id = max(id, s.ID+1)
	}
	return id
}

// commitUpdates commits changes of metadata that make no snapshot. They are
// idempotent, so an attempt whose outcome is unknown is built and made again:
// its requirements refuse it when the first one was applied.
func (t *Table) commitUpdates(ctx context.Context, what string,
	build func(table.Metadata) ([]table.Update, []table.Requirement, error),
) error {
	if err := t.writable(); err != nil {
		return err
	}
	k := &committer{t: t}
	retries := t.Properties().GetInt(propNumRetries, defaultRetries)
	for {
		cur, err := t.reload(ctx)
		if err != nil {
			return err
		}
		updates, reqs, err := build(cur.Metadata())
		if err != nil {
			return fmt.Errorf("%s: %w", what, err)
		}
		reqs = append(reqs, table.AssertTableUUID(cur.Metadata().TableUUID()))
		_, _, err = t.cat.CommitTable(ctx, cur.Identifier(), reqs, updates)
		if err == nil {
			return t.Refresh(ctx)
		}
		k.attempts++
		if k.attempts > retries || ctx.Err() != nil || !moved(ctx, t, cur) {
			return fmt.Errorf("%s: %w", what, errors.Join(ErrConflict, err))
		}
		if err := k.backoff(ctx); err != nil {
			return err
		}
	}
}

// moved reports that the table is no longer at the version that was tried.
func moved(ctx context.Context, t *Table, tried *table.Table) bool {
	cur, err := t.reload(ctx)
	return err == nil && cur.MetadataLocation() != tried.MetadataLocation()
}
