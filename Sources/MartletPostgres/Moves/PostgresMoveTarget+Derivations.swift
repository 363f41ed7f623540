import MartletCore
import MartletModel

/// The columns of the schema that a moved row does not have, or not in the same form.
extension PostgresMoveTarget {
    /// Returns the functions that compute the columns that the rows of a moved table do not have in the form of the
    /// schema, by column name.
    func derivations(of table: MovedTable) -> [String: MovedInsertion.Derivation] {
        func bytes(_ column: String, of row: [MovedValue]) -> [UInt8] {
            table.index(of: column).flatMap { row[$0].bytes } ?? []
        }
        func platform(of row: [MovedValue]) throws(StorageError) -> Int32 {
            let name = String(decoding: bytes("platform", of: row), as: UTF8.self)
            guard let number = reader.platformNumbers[name] else {
                throw StorageError(.corrupt, "A row names the platform '\(name)', which no device has.")
            }
            return number
        }
        func scope(of row: [MovedValue]) throws(StorageError) -> Int32 {
            let isTemplate =
                table.index(of: "is_template").map { row[$0] == .integer(1) }
                ?? (table.index(of: "template").map { row[$0] != .null } ?? false)
            return Scope(platform: try platform(of: row), isTemplate ? .template : .native).number
        }
        let hash: MovedInsertion.Derivation = { [self] row throws(StorageError) in
            let key = bytes("key", of: row).withUnsafeBytes { StoredForm.handle($0) }
            return .bytes(
                try reader.hash(of: key, on: String(decoding: bytes("platform", of: row), as: UTF8.self)))
        }
        let platformNumber: MovedInsertion.Derivation = { row throws(StorageError) in
            .integer(Int64(try platform(of: row)))
        }
        let tagNumbers: MovedInsertion.Derivation = { [self] row throws(StorageError) in
            let known = table.index(of: "tag_numbers").map { row[$0].numbers } ?? []
            return .numbers(
                tags.numbers(
                    of: bytes("tags", of: row), known, in: row[0].integer ?? 0, scope: try scope(of: row)))
        }
        let spelledTags: MovedInsertion.Derivation = { row throws(StorageError) in
            let text = bytes("tags", of: row)
            return text.contains { (0x41...0x5A).contains($0) } ? .bytes(text) : .null
        }
        switch table.name {
        case "tags":
            return [
                "scope": { row throws(StorageError) in .integer(Int64(try scope(of: row))) },
                "id": { [self] row throws(StorageError) in
                    let hub = row[0].integer ?? 0
                    return .integer(MovedTagNumbers.composed(hub, tags.shifted(row[4].integer ?? 0, in: hub)))
                },
            ]
        case "channels": return ["hash": hash, "platform": platformNumber]
        case "former_channels": return ["hash": hash]
        case "registrations":
            return [
                "scope": { row throws(StorageError) in .integer(Int64(try scope(of: row))) }, "tags": tagNumbers,
                "spelled_tags": spelledTags,
            ]
        case "registration_history":
            return ["platform": platformNumber, "tags": tagNumbers, "spelled_tags": spelledTags]
        case "templates", "variables":
            let isTemplate = table.name == "templates"
            let content: (([MovedValue]) throws(StorageError) -> [UInt8]) = { row throws(StorageError) in
                let moved = bytes("content", of: row)
                return isTemplate
                    ? ContentCoding.encode(try MovedContent.template(moved))
                    : ContentCoding.encode(try MovedContent.variables(moved))
            }
            return [
                "content": { row throws(StorageError) in .bytes(try content(row)) },
                "hash": { [self] row throws(StorageError) in .bytes(rules.hash(try content(row))) },
            ]
        case "ranges":
            return [
                "summary": { row throws(StorageError) in
                    var range = RangeRecord.empty
                    try MovedContent.read(bytes("summary", of: row), into: &range)
                    return .bytes(RangeTable.encode(range))
                }
            ]
        case "collapses":
            return [
                "anchor": { [self] row throws(StorageError) in
                    let anchor = bytes("anchor", of: row)
                    guard anchor.first == UInt8(ascii: "=") else { return .bytes(anchor) }
                    let key = String(decoding: anchor.dropFirst(), as: UTF8.self)
                    let platform = String(decoding: bytes("platform", of: row), as: UTF8.self)
                    return .bytes(CollapseAnchor.handle(try reader.hash(of: key, on: platform)))
                }
            ]
        default: return [:]
        }
    }
}
