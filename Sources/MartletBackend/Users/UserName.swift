public import MartletModel

/// The name of a user, which is used to register and to address the user.
///
/// A name consists of ASCII letters and digits, `_ @ . -`, the marks `' + #`, and letters, digits and combining marks
/// of any script. It has neither spaces nor the special characters of tag expressions, so that a name is never mistaken
/// for an expression. It has no colon, because a colon ends the name in HTTP Basic. Names are compared
/// case-insensitively.
///
/// Tags allow fewer characters. In a tag, every byte of the lower-case name in UTF-8 other than `a-z 0-9 _ @ . -` is
/// written as `#` with two lower-case hexadecimal digits: `Zoë` becomes `username:zo#c3#ab`. A `#` in a tag is always
/// such an escape, so two names never share a tag.
public struct UserName: Sendable, CustomStringConvertible {
    /// The name as it was written.
    public let spelling: String
    /// The name in lower case, by which names are compared.
    public let folded: String
    /// The tag `username:NAME`, which all the user's devices have.
    public let tag: Tag
    /// The tag `from:NAME`, which the user's devices have if users are to see their own messages on their devices.
    public let fromTag: Tag

    /// The prefixes of the tags that only the backend assigns.
    static let tagPrefixes = [tagPrefix, "from:"]

    /// The maximum length of a name as written, in bytes.
    static let lengthLimit = 256

    /// - Throws: `UserNameError` saying what is wrong.
    public init(_ text: String) throws(UserNameError) {
        guard !text.isEmpty else { throw .empty }
        guard text.utf8.count <= Self.lengthLimit else { throw .tooLong }
        guard text.unicodeScalars.allSatisfy(Self.isAllowed) else { throw .badCharacter }
        spelling = text
        folded = text.lowercased()
        let escaped = Self.escape(folded)
        do throws(TagError) {
            tag = try Tag(Self.tagPrefix + escaped)
            fromTag = try Tag("from:" + escaped)
        } catch {
            throw .tooLong
        }
    }

    public var description: String { spelling }

    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        guard !scalar.isASCII else {
            return scalar.properties.isAlphabetic || ("0"..."9").contains(scalar)
                || "_@.-'+#".unicodeScalars.contains(scalar)
        }
        guard !isOtherSpelling(scalar) else { return false }
        return switch scalar.properties.generalCategory {
        case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
            .spacingMark, .decimalNumber, .letterNumber:
            true
        default: false
        }
    }

    /// Returns whether a capital folds into the small letter of another capital, as the Kelvin sign (U+212A) folds into
    /// `k`. Such a capital would turn the name into the name of another user.
    private static func isOtherSpelling(_ scalar: Unicode.Scalar) -> Bool {
        let small = scalar.properties.lowercaseMapping.unicodeScalars
        guard small.count == 1, let letter = small.first, letter != scalar else { return false }
        let capital = letter.properties.uppercaseMapping.unicodeScalars
        return capital.count == 1 && capital.first != scalar
    }

    private static func escape(_ folded: String) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var bytes: [UInt8] = []
        for byte in folded.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"),
                UInt8(ascii: "@"), UInt8(ascii: "."), UInt8(ascii: "-"):
                bytes.append(byte)
            default: bytes += [UInt8(ascii: "#"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UserName: Hashable {
    public static func == (left: UserName, right: UserName) -> Bool { left.tag == right.tag }
    public func hash(into hasher: inout Hasher) { hasher.combine(tag) }
}

/// Why a text is not a valid user name.
public enum UserNameError: Error, Hashable, Sendable, CustomStringConvertible {
    case empty
    case tooLong
    case badCharacter

    public var description: String {
        switch self {
        case .empty: "A user name must not be empty."
        case .tooLong:
            "The user name is too long: it has at most 111 characters, of which each beyond ASCII letters, digits and "
                + "_ @ . - counts threefold or more."
        case .badCharacter:
            "A user name consists of letters and digits of any script and _ @ . - ' + # only; spaces, colons and the "
                + "operators of tag expressions cannot stand in it."
        }
    }
}
