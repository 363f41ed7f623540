import MartletCore

/// Turns the rows of a moved table into rows of a table of the schema, in the binary format of COPY.
struct MovedInsertion {
    /// The name of the table with the list of its columns, as a COPY statement needs them.
    let target: String
    private let columns: [(type: ColumnType, value: Value)]

    private enum Value {
        /// The value of the column with this index in the moved row.
        case moved(Int)
        /// The same value, composed with the number of its shard (`Shard.compose`).
        case composed(Int)
        /// A value that is computed from the moved row.
        case derived(Derivation)
    }

    typealias Derivation = ([MovedValue]) throws(StorageError) -> MovedValue

    /// - Parameters:
    ///   - name: The name of the table in the schema.
    ///   - derived: The functions that compute the columns that the moved rows do not have, by column name.
    /// - Throws: `StorageError` if there is no value for one of the table's columns.
    init(
        _ table: MovedTable, into name: String, _ catalog: MovedQuery.Catalog, derived: [String: Derivation]
    ) throws(StorageError) {
        var columns: [(type: ColumnType, value: Value)] = []
        for column in catalog[name] ?? [] {
            if let type = column.type, let derivation = derived[column.name] {
                columns.append((type, .derived(derivation)))
            } else if let type = column.type, let index = table.index(of: column.name) {
                let isComposed = [.row(.notifications), .row(.deliveries)].contains(table.columns[index].number)
                columns.append((type, isComposed ? .composed(index) : .moved(index)))
            } else {
                throw MovedQuery.unknown(column.name, of: name)
            }
        }
        self.columns = columns
        target = "\(name) (\((catalog[name] ?? []).map(\.name).joined(separator: ", ")))"
    }

    /// Encodes a row, and appends it to `bytes`.
    /// - Parameter isNew: The value of a further column, `is_new`, at the end; nil if there is none.
    func append(_ row: [MovedValue], isNew: Bool? = nil, to bytes: inout [UInt8]) throws(StorageError) {
        bytes.append(bigEndian: Int16(columns.count + (isNew == nil ? 0 : 1)))
        for (type, value) in columns {
            switch value {
            case .moved(let index): type.append(row[index], to: &bytes)
            case .composed(let index):
                let shard = Shard(number: Int32(truncatingIfNeeded: row[0].integer ?? 0))
                type.append(MovedValue(row[index].integer.map { shard.compose($0) }), to: &bytes)
            case .derived(let derivation): type.append(try derivation(row), to: &bytes)
            }
        }
        if let isNew { ColumnType.bool.append(.integer(isNew ? 1 : 0), to: &bytes) }
    }
}
