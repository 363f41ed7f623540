extension Substring.UnicodeScalarView {
    /// True if the text is a name without a colon (XML 1.0, fifth edition, production 5).
    var isXMLName: Bool {
        first?.startsXMLName == true && dropFirst().allSatisfy { $0.startsXMLName || $0.continuesXMLName }
    }
}

extension Unicode.Scalar {
    fileprivate var startsXMLName: Bool {
        switch value {
        case 0x41...0x5A, 0x5F, 0x61...0x7A, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF,
            0x200C...0x200D, 0x2070...0x218F, 0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD,
            0x10000...0xEFFFF:
            true
        default: false
        }
    }

    fileprivate var continuesXMLName: Bool {
        switch value {
        case 0x2D, 0x2E, 0x30...0x39, 0xB7, 0x300...0x36F, 0x203F...0x2040: true
        default: false
        }
    }
}
