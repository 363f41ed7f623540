import CMartletXML2

/// Builds the tree of one document from the callbacks of libxml2, and stops the parser at the first exceeded limit.
///
/// This is a class because C code keeps the address of the builder. A builder exists only during one call of
/// `XMLReader.read`.
final class XMLTreeBuilder {
    private let context: xmlParserCtxtPtr
    private let limits: XMLReader
    private var open: [XMLElement] = []
    private var elementCount = 0
    private(set) var root: XMLElement?
    private(set) var refusal: XMLReaderError?

    init(_ context: xmlParserCtxtPtr, limits: XMLReader) {
        self.context = context
        self.limits = limits
    }

    /// The callbacks for libxml2. All other callbacks (entities, declarations, comments) are unset, so those parts of a
    /// document are ignored.
    static var handlers: xmlSAXHandler {
        var handlers = xmlSAXHandler()
        handlers.initialized = UInt32(XML_SAX2_MAGIC)
        handlers.internalSubset = { builder, _, _, _ in XMLTreeBuilder.at(builder)?.refuse(.hasDTD) }
        handlers.startElementNs = { builder, name, _, _, _, _, count, _, attributes in
            XMLTreeBuilder.at(builder)?.start(name, attributes, count: Int(count))
        }
        handlers.endElementNs = { builder, _, _, _ in XMLTreeBuilder.at(builder)?.end() }
        handlers.characters = { builder, text, count in XMLTreeBuilder.at(builder)?.append(text, count) }
        handlers.cdataBlock = { builder, text, count in XMLTreeBuilder.at(builder)?.append(text, count) }
        return handlers
    }

    private static func at(_ address: UnsafeMutableRawPointer?) -> XMLTreeBuilder? {
        address.map { Unmanaged<XMLTreeBuilder>.fromOpaque($0).takeUnretainedValue() }
    }

    private func refuse(_ error: XMLReaderError) {
        if refusal == nil { refusal = error }
        xmlStopParser(context)
    }

    /// Called by libxml2 at the start tag of an element.
    /// - Parameter attributes: Five pointers per attribute: local name, prefix, namespace, start and end of the value.
    private func start(
        _ name: UnsafePointer<xmlChar>?, _ attributes: UnsafeMutablePointer<UnsafePointer<xmlChar>?>?, count: Int
    ) {
        guard refusal == nil else { return }
        elementCount += 1
        guard open.count < limits.depthLimit else { return refuse(.tooDeep(limits.depthLimit)) }
        guard elementCount <= limits.elementLimit else { return refuse(.tooManyElements(limits.elementLimit)) }
        guard count <= limits.attributeLimit else { return refuse(.tooManyAttributes(limits.attributeLimit)) }
        var element = XMLElement(name: text(name))
        for index in 0..<count {
            guard let attributes, let start = attributes[5 * index + 3], let end = attributes[5 * index + 4]
            else { continue }
            let value = UnsafeBufferPointer(start: start, count: end - start)
            element.attributes[text(attributes[5 * index])] = String(decoding: value, as: UTF8.self)
        }
        open.append(element)
    }

    private func end() {
        guard refusal == nil, let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }

    private func append(_ bytes: UnsafePointer<xmlChar>?, _ count: Int32) {
        guard refusal == nil, !open.isEmpty else { return }
        open[open.count - 1].text += String(
            decoding: UnsafeBufferPointer(start: bytes, count: Int(count)), as: UTF8.self)
    }

    private func text(_ name: UnsafePointer<xmlChar>?) -> String {
        name.map { String(cString: $0) } ?? ""
    }
}
