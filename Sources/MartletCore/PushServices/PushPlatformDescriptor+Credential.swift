extension PushPlatformDescriptor {
    /// How the platform's credential is given to a hub: as an element of its XML document, or by flags of the command
    /// line.
    public struct CredentialForm: Sendable {
        /// A property of the platform's credential.
        public struct Field: Sendable {
            /// As in the XML documents of the hub.
            public var name: String
            /// The command line flag, such as `key-id`.
            public var flag: String
            public var help: String
            public var isSecret: Bool
            /// Whether the value of the command line flag is a path to a file that contains the property.
            public var isFile: Bool
            /// An alternative source for the command line: a file with the whole credential.
            public var fileMember: FileMember?
            /// Whether Azure Notification Hubs has no such property. Then the property is in no XML document, because a
            /// known client fails on unknown names.
            public var isExtension: Bool
            /// Whether the hub connects to this value. A change requires the secrets of the credential again, because
            /// they are sent there.
            public var isAddress: Bool
            /// The value if none is given. Documents contain it, because a known client inserts a value of its own if
            /// there is none.
            public var impliedValue: String?

            /// A member of a JSON file as issued by the owner of the platform.
            public struct FileMember: Sendable {
                /// The flag with the path of the file; several fields can come from one file.
                public var flag: String
                public var help: String
                public var member: String

                public init(flag: String, help: String, member: String) {
                    self.flag = flag
                    self.help = help
                    self.member = member
                }
            }

            public init(
                name: String, flag: String, help: String, isSecret: Bool = false, isFile: Bool = false,
                isExtension: Bool = false, isAddress: Bool = false, impliedValue: String? = nil,
                fileMember: FileMember? = nil
            ) {
                self.name = name
                self.flag = flag
                self.help = help
                self.isSecret = isSecret
                self.isFile = isFile
                self.isExtension = isExtension
                self.isAddress = isAddress
                self.impliedValue = impliedValue
                self.fileMember = fileMember
            }
        }

        /// The element in a hub description.
        public var element: String
        /// The index of that element in the description, from 0 (NotificationHubs.md, section 13.2): a known client
        /// ignores elements that are out of order. nil if Azure Notification Hubs has no such element; then it is in no
        /// document.
        public var index: Int?
        public var fields: [Field]

        public init(element: String, index: Int? = nil, fields: [Field]) {
            self.element = element
            self.index = index
            self.fields = fields
        }
    }
}
