package parquet

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/deprecated"
	"github.com/parquet-go/parquet-go/format"

	"github.com/reelsplice/reelsplice/schemas/record"
)

// A cell appends a value that is not NULL as JSON. If JSON cannot represent the value,
// bad is the reason, and the appended text is an approximation.
type cell func(dst []byte, v parquet.Value) (out []byte, bad string)

// converted maps the converted types of old writers to logical types.
var converted = map[deprecated.ConvertedType]format.LogicalTypeValue{
	deprecated.Date:            &format.DateType{},
	deprecated.TimeMillis:      &format.TimeType{Unit: parquet.Millisecond.TimeUnit()},
	deprecated.TimeMicros:      &format.TimeType{Unit: parquet.Microsecond.TimeUnit()},
	deprecated.TimestampMillis: &format.TimestampType{Unit: parquet.Millisecond.TimeUnit()},
	deprecated.TimestampMicros: &format.TimestampType{Unit: parquet.Microsecond.TimeUnit()},
	deprecated.Uint8:           &format.IntType{}, deprecated.Uint16: &format.IntType{}, deprecated.Uint32: &format.IntType{}, deprecated.Uint64: &format.IntType{},
}

// cellOf returns the cell function of a leaf, or an error if its physical type does not allow its logical type. Text with JSON
// in it stays text, even if the column is annotated as JSON: the layout interprets it.
func cellOf(e *format.SchemaElement) (cell, error) {
	logical := e.LogicalType.Value
	if logical == nil && e.ConvertedType.Valid {
		if logical = converted[e.ConvertedType.V]; e.ConvertedType.V == deprecated.Decimal && e.Scale.Valid {
			logical = &format.DecimalType{Scale: e.Scale.V}
		}
	}
	physical := e.Type.V
	text := physical == format.ByteArray || physical == format.FixedLenByteArray
	switch l := logical.(type) {
	case *format.DecimalType:
		if !text && physical != format.Int32 && physical != format.Int64 {
			return nil, fmt.Errorf("it holds decimals of type %s", physical)
		}
		return decimalCell(int(l.Scale)), nil
	case *format.DateType:
		return func(dst []byte, v parquet.Value) ([]byte, string) {
			return appendTime(dst, time.Unix(int64(v.Int32())*86400, 0), time.DateOnly)
		}, nil
	case *format.TimestampType:
		// Local timestamps, which pandas writes for times without a zone, are read as UTC.
		unit := l.Unit.Value.Duration()
		perSecond := int64(time.Second / unit)
		return func(dst []byte, v parquet.Value) ([]byte, string) {
			n := v.Int64()
			return appendTime(dst, time.Unix(n/perSecond, n%perSecond*int64(unit)), time.RFC3339Nano)
		}, nil
	case *format.TimeType:
		unit := l.Unit.Value.Duration()
		return func(dst []byte, v parquet.Value) ([]byte, string) {
			return appendTime(dst, time.Unix(0, integer(v)*int64(unit)), "15:04:05.999999999")
		}, nil
	case *format.IntType:
		if !l.IsSigned {
			return func(dst []byte, v parquet.Value) ([]byte, string) {
				if v.Kind() == parquet.Int32 {
					return strconv.AppendUint(dst, uint64(v.Uint32()), 10), ""
				}
				return strconv.AppendUint(dst, v.Uint64(), 10), ""
			}, nil
		}
	case *format.UUIDType:
		if physical != format.FixedLenByteArray || e.TypeLength.V != 16 {
			return nil, fmt.Errorf("it holds UUIDs of type %s", physical)
		}
		return func(dst []byte, v parquet.Value) ([]byte, string) {
			b := v.ByteArray()
			return fmt.Appendf(dst, `"%x-%x-%x-%x-%x"`, b[:4], b[4:6], b[6:8], b[8:10], b[10:]), ""
		}, nil
	}
	switch physical {
	case format.Boolean:
		return func(dst []byte, v parquet.Value) ([]byte, string) { return strconv.AppendBool(dst, v.Boolean()), "" }, nil
	case format.Int32, format.Int64:
		return func(dst []byte, v parquet.Value) ([]byte, string) { return strconv.AppendInt(dst, integer(v), 10), "" }, nil
	case format.Int96:
		// Timestamps of old Spark, Hive and Impala files: nanoseconds of the day, then the Julian day.
		const julianUnix = 2440588 // Julian day of 1970-01-01
		return func(dst []byte, v parquet.Value) ([]byte, string) {
			i := v.Int96()
			nanos, days := int64(i[1])<<32|int64(i[0]), int64(int32(i[2]))-julianUnix
			return appendTime(dst, time.Unix(days*86400, nanos), time.RFC3339Nano)
		}, nil
	case format.Float:
		return func(dst []byte, v parquet.Value) ([]byte, string) {
			return appendFloat(dst, float64(v.Float()), 32), ""
		}, nil
	case format.Double:
		return func(dst []byte, v parquet.Value) ([]byte, string) { return appendFloat(dst, v.Double(), 64), "" }, nil
	}
	// Keep invalid UTF-8, so that a bad row shows its bytes.
	return func(dst []byte, v parquet.Value) (out []byte, bad string) {
		if f := record.CheckText(v.ByteArray()); f != nil {
			bad = f.ReasonAt()
		}
		return record.AppendText(dst, v.ByteArray()), bad
	}, nil
}

// integer returns the number in a value of either integer type.
func integer(v parquet.Value) int64 {
	if v.Kind() == parquet.Int32 {
		return int64(v.Int32())
	}
	return v.Int64()
}

// appendFloat appends f as a JSON number, and integers such as 550.0 as 550, because pandas turns an
// integer column with a NULL into DOUBLE. NaN, which old pandas files have for NULL, and infinities
// become null.
func appendFloat(dst []byte, f float64, bits int) []byte {
	switch {
	case math.IsNaN(f) || math.IsInf(f, 0):
		return append(dst, "null"...)
	case f == math.Trunc(f) && math.Abs(f) < 1<<53:
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return strconv.AppendFloat(dst, f, 'g', -1, bits)
}

// appendTime appends t in UTC if its year has four digits, as RFC 3339 requires.
func appendTime(dst []byte, t time.Time, layout string) ([]byte, string) {
	t = t.UTC()
	if y := t.Year(); y < 0 || y > 9999 {
		return append(dst, "null"...), "year is outside 0 to 9999"
	}
	dst = append(dst, '"')
	dst = t.AppendFormat(dst, layout)
	return append(dst, '"'), ""
}

// decimalCell writes a DECIMAL digit by digit, never through a float.
func decimalCell(scale int) cell {
	scale = min(max(scale, 0), 1024)
	unit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)
	return func(dst []byte, v parquet.Value) ([]byte, string) {
		n := new(big.Int)
		if k := v.Kind(); k == parquet.Int32 || k == parquet.Int64 {
			n.SetInt64(integer(v))
		} else if b := v.ByteArray(); len(b) > 1024 {
			return append(dst, "null"...), "DECIMAL value is longer than 1024 bytes"
		} else if n.SetBytes(b); len(b) > 0 && b[0]&0x80 != 0 { // two's complement
			n.Sub(n, new(big.Int).Lsh(big.NewInt(1), uint(len(b))*8))
		}
		return append(dst, new(big.Rat).SetFrac(n, unit).FloatString(scale)...), ""
	}
}
