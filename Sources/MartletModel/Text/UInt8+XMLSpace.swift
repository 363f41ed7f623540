extension UInt8 {
    /// True for space, tab, carriage return and line feed, which are the white space of XML, JSON and template
    /// expressions.
    var isXMLSpace: Bool { self == 0x20 || self == 0x09 || self == 0x0A || self == 0x0D }
}
