import CMartletXML2

/// Reads untrusted documents: UTF-8, no DTD and so no custom entities, with limits on size and nesting.
struct XMLReader {
    /// Deepest nesting of elements.
    var depthLimit = 16
    /// Most elements in all.
    var elementLimit = 1024
    /// Most attributes of one element.
    var attributeLimit = 16

    /// The root of a document.
    ///
    /// If a document is not well-formed, repairs the mistakes of a known client with `XMLRepair` and reads it again.
    func read(_ bytes: [UInt8]) throws(XMLReaderError) -> XMLElement {
        guard !bytes.isEmpty else { throw .empty }
        guard !bytes.contains(0), String(validating: bytes, as: UTF8.self) != nil else { throw .notUTF8 }
        do {
            return try parse(bytes)
        } catch {
            guard case .malformed = error, let repaired = XMLRepair.repair(bytes) else { throw error }
            return try parse(repaired)
        }
    }

    private func parse(_ bytes: [UInt8]) throws(XMLReaderError) -> XMLElement {
        Self.prepareLibrary
        guard let size = Int32(exactly: bytes.count),
            let context = bytes.withUnsafeBytes({ xmlCreateMemoryParserCtxt($0.baseAddress, size) })
        else { throw .outOfMemory }
        defer { xmlFreeParserCtxt(context) }
        let options = XML_PARSE_NONET.rawValue | XML_PARSE_NOERROR.rawValue | XML_PARSE_NOWARNING.rawValue
        // NOENT gives attributes with `&amp;` as `&`; entities of a document's own are none, because a DTD is refused
        // before it is read. IGNORE_ENC: the bytes are known to be UTF-8, whatever their declaration says.
        xmlCtxtUseOptions(context, Int32(options | XML_PARSE_NOENT.rawValue | XML_PARSE_IGNORE_ENC.rawValue))
        let builder = XMLTreeBuilder(context, limits: self)
        context.pointee.sax.pointee = XMLTreeBuilder.handlers
        context.pointee.userData = Unmanaged.passUnretained(builder).toOpaque()
        let status = withExtendedLifetime(builder) { xmlParseDocument(context) }
        if let refusal = builder.refusal { throw refusal }
        guard status == 0, context.pointee.wellFormed == 1, let root = builder.root else {
            let error = context.pointee.lastError
            throw .malformed(line: Int(error.line), column: Int(error.int2))
        }
        return root
    }

    private static let prepareLibrary: Void = xmlInitParser()
}

/// Why a document could not be read, for its sender.
enum XMLReaderError: Error, Hashable, CustomStringConvertible {
    case empty
    case notUTF8
    case malformed(line: Int, column: Int)
    case hasDTD
    case tooDeep(Int)
    case tooManyElements(Int)
    case tooManyAttributes(Int)
    case outOfMemory

    var description: String {
        switch self {
        case .empty: "The body is empty; it must be an XML document."
        case .notUTF8: "The body is not UTF-8 text."
        case .malformed(let line, let column):
            "The body is not well-formed XML: reading stopped at line \(line), column \(column)."
        case .hasDTD: "The body has a document type declaration; such documents are not read."
        case .tooDeep(let limit): "The body nests elements deeper than \(limit) levels."
        case .tooManyElements(let limit): "The body has more than \(limit) elements."
        case .tooManyAttributes(let limit): "An element of the body has more than \(limit) attributes."
        case .outOfMemory: "The body could not be read."
        }
    }
}
