import MartletHTTP

/// The header block of a batch's requests, encoded once.
///
/// Each request is a copy of the block with the values of its item.
///
/// `:path`, `authorization`, `content-length`, item fields and fields marked `.never` are literals that are not added
/// to the peer's dynamic table. The first request adds `:authority` and the other fields to the table, as far as the
/// table has room. After that, each of the added fields takes one octet.
struct RequestTemplate {
    /// The encoded pseudo-fields, up to but not including the length of the path.
    private var head: [UInt8] = []
    private let pathPrefix: [UInt8]
    /// The encoded fields that all requests share.
    private var shared: [UInt8] = []
    /// The encoding of each item field, up to but not including the length of its value.
    private let itemNames: [[UInt8]]
    /// True if each item has its own body and therefore its own `content-length`.
    private let ownsBodies: Bool
    /// The version of the encoder's table (`HPACKEncoderTable.version`) for which the encoded indices are valid.
    private var version = -1
    /// The ranges, in the output, of the path and the field values of the item that was written last.
    private(set) var parts: [Range<Int>] = []
    private let plan: Plan

    /// The fields to encode: those that are added to the dynamic table, and those that are always written as literals.
    private struct Plan {
        let method: HTTPMethod
        let scheme: HTTPOrigin.Scheme
        let authority: HPACKEncoderTable.Entry
        var common: [HPACKEncoderTable.Entry] = []
        /// The fields that are not added to the table, encoded as literals.
        var literals: [UInt8] = []
    }

    init(_ batch: RequestBatch.Shared) {
        pathPrefix = Array(batch.pathPrefix.utf8)
        ownsBodies = batch.body == nil
        itemNames = batch.itemFieldNames.map { name in
            var bytes = [HPACKWriter.Literal.neverIndexed.rawValue]
            HPACKWriter.string(name.utf8, into: &bytes)
            return bytes
        }
        let authority = HPACKEncoderTable.Entry(name: ":authority", value: batch.origin.authority)
        var plan = Plan(method: batch.method, scheme: batch.origin.scheme, authority: authority)
        for field in batch.fields where !NGHTTP2FieldList.isConnectionSpecific(field.name) {
            if field.indexing == .allowed && field.name != "authorization" {
                plan.common.append(HPACKEncoderTable.Entry(name: field.name, value: field.value))
            } else {
                HPACKWriter.literal(.neverIndexed, field.name.utf8, field.value.utf8, into: &plan.literals)
            }
        }
        if let body = batch.body, !body.isEmpty {
            HPACKWriter.literal(
                .passing, nameIndex: HPACKWriter.Static.contentLength, String(body.count).utf8, into: &plan.literals)
        }
        self.plan = plan
    }

    /// Returns true if writing the next block will not change the table.
    func isCurrent(_ table: HPACKEncoderTable) -> Bool { version == table.version }

    // MARK: Items

    /// Writes the header block of one item.
    mutating func write(
        _ item: Int, of batch: RequestBatch, bodyCount: Int, table: inout HPACKEncoderTable, into output: inout [UInt8]
    ) {
        if version != table.version { prepare(&table, into: &output) }
        parts.removeAll(keepingCapacity: true)
        output.append(contentsOf: head)
        batch.withPath(item) { path in
            HPACKWriter.integer(pathPrefix.count + path.count, prefix: 7, first: 0, into: &output)
            output.append(contentsOf: pathPrefix)
            output.append(contentsOf: path)
            parts.append(output.count - path.count..<output.count)
        }
        output.append(contentsOf: shared)
        for index in itemNames.indices {
            output.append(contentsOf: itemNames[index])
            batch.withValue(index, of: item) { value in
                HPACKWriter.string(value, into: &output)
                parts.append(output.count - value.count..<output.count)
            }
        }
        if ownsBodies, bodyCount > 0 {
            HPACKWriter.literal(
                .passing, nameIndex: HPACKWriter.Static.contentLength, String(bodyCount).utf8, into: &output)
        }
        if version != table.version { encode(with: table) }
    }

    /// Encodes the shared fields for the first request after a change of the table.
    ///
    /// Determines which fields fit into the table together. If the table lacks one of these fields, all of them are
    /// inserted again, so that the table contains all of them at the same time.
    private mutating func prepare(_ table: inout HPACKEncoderTable, into output: inout [UInt8]) {
        table.writeSizeUpdate(into: &output)
        let entries = entriesForTable(table)
        guard !entries.allSatisfy({ table.index(of: $0) != nil }) else { return encode(with: table) }
        encode { entry, block in
            guard entries.contains(entry) else { return HPACKWriter.literal(.passing, entry, into: &block) }
            HPACKWriter.literal(.inserted, entry, into: &block)
            table.insert(entry)
        }
    }

    /// Returns the entries that fit into the table at the same time, in the order in which they are written.
    private func entriesForTable(_ table: HPACKEncoderTable) -> [HPACKEncoderTable.Entry] {
        var room = table.capacity
        return ([plan.authority] + plan.common).filter { entry in
            guard entry.size <= room else { return false }
            room -= entry.size
            return true
        }
    }

    private mutating func encode(with table: HPACKEncoderTable) {
        version = table.version
        encode { entry, block in
            if let index = table.index(of: entry) {
                HPACKWriter.indexed(index, into: &block)
            } else {
                HPACKWriter.literal(.passing, entry, into: &block)
            }
        }
    }

    private mutating func encode(_ write: (HPACKEncoderTable.Entry, inout [UInt8]) -> Void) {
        head = []
        HPACKWriter.pseudoFields(method: plan.method, scheme: plan.scheme, into: &head)
        write(plan.authority, &head)
        HPACKWriter.integer(HPACKWriter.Static.path, prefix: 4, first: 0x10, into: &head)
        shared = []
        for entry in plan.common { write(entry, &shared) }
        shared += plan.literals
    }
}

extension HPACKWriter {
    /// Writes `:method` and `:scheme`.
    static func pseudoFields(method: HTTPMethod, scheme: HTTPOrigin.Scheme, into block: inout [UInt8]) {
        switch method {
        case .get: indexed(Static.methodGet, into: &block)
        case .post: indexed(Static.methodPost, into: &block)
        default: literal(.passing, nameIndex: Static.methodGet, method.rawValue.utf8, into: &block)
        }
        indexed(scheme == .https ? Static.schemeHTTPS : Static.schemeHTTP, into: &block)
    }

    static func literal(_ kind: Literal, _ entry: HPACKEncoderTable.Entry, into block: inout [UInt8]) {
        literal(kind, entry.name.utf8, entry.value.utf8, into: &block)
    }

    /// Writes the complete header block of a single request. The block does not change the dynamic table.
    static func block(of request: HTTPRequest, to origin: HTTPOrigin, into block: inout [UInt8]) {
        pseudoFields(method: request.method, scheme: origin.scheme, into: &block)
        let authority = request.authority.isEmpty ? origin.authority : request.authority
        literal(.passing, nameIndex: Static.authority, authority.utf8, into: &block)
        literal(.neverIndexed, nameIndex: Static.path, request.target.utf8, into: &block)
        for field in request.fields where !NGHTTP2FieldList.isConnectionSpecific(field.name) {
            let isSecret = field.indexing == .never || field.name == "authorization"
            literal(isSecret ? .neverIndexed : .passing, field.name.utf8, field.value.utf8, into: &block)
        }
        if !request.body.isEmpty, request.fields["content-length"] == nil {
            literal(.passing, nameIndex: Static.contentLength, String(request.body.count).utf8, into: &block)
        }
    }
}
