import FuzzDriver

@testable import MartletHubAPI

/// Input: an XML document. Checks that its text, written as an attribute and as the text of an element, is read back
/// unchanged.
@main
struct FuzzDocument {
    static func main() {
        fuzz { bytes, count in
            let document = Array(UnsafeBufferPointer(start: bytes, count: count))
            guard let root = try? XMLReader().read(document) else { return 0 }
            var writer = XMLWriter()
            writer.element("e", ["a": root.text]) { $0.element("t", text: root.text) }
            guard let again = try? XMLReader().read(writer.bytes) else {
                preconditionFailure("what was written is not well-formed")
            }
            precondition(again.attributes["a"] == root.text, "an attribute reads as it was written")
            precondition(again.child("t")?.text == root.text, "a text reads as it was written")
            return 0
        }
    }
}
