import CMartletXML2

/// Reads untrusted XML documents in UTF-8. A document with a DTD is refused, so there are no custom entities. The depth
/// of nesting and the numbers of elements and attributes are limited.
struct XMLReader {
    /// The maximum nesting depth of elements.
    var depthLimit = 16
    /// The maximum number of elements in a document.
    var elementLimit = 1024
    /// The maximum number of attributes of one element.
    var attributeLimit = 16

    /// Returns the root of a document.
    ///
    /// If a document is not well-formed, the function repairs the mistakes of the Java client with `XMLRepair` and
    /// reads the document again.
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
        // With `XML_PARSE_NOENT`, `&amp;` in attributes is reported as `&`. Custom entities cannot occur, because a DTD
        // is refused before it is read. With `XML_PARSE_IGNORE_ENC`, the declared encoding is ignored, because the
        // bytes are known to be UTF-8.
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

/// The reason why a document could not be read, described for the sender of the document.
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
