extension Migration {
    /// Containers of blobs. `space` distinguishes the containers of jobs from the container of payload bodies.
    ///
    /// A row of `blob_contents` stands for the bytes of one blob or block, which are stored as chunks; `start` is the
    /// offset of a chunk in bytes. A blob refers to its content, so a blob is replaced in one step, and a reader of the
    /// old content can continue. `removable_at` is the time from which a content may be removed: NULL while a blob uses
    /// it, and -1 while it is being removed. `key` identifies a resumable upload.
    static let containers = Migration(
        name: "containers",
        script: """
            CREATE TABLE containers (
                space int4 NOT NULL,
                name text NOT NULL,
                PRIMARY KEY (space, name)
            );
            CREATE TABLE blob_contents (
                id int8 PRIMARY KEY GENERATED ALWAYS AS IDENTITY,
                key text UNIQUE,
                removable_at int8
            );
            CREATE INDEX blob_contents_removable ON blob_contents (removable_at) WHERE removable_at IS NOT NULL;
            CREATE TABLE blob_chunks (
                content int8 NOT NULL REFERENCES blob_contents ON DELETE CASCADE,
                start int8 NOT NULL,
                data bytea NOT NULL,
                PRIMARY KEY (content, start)
            );
            ALTER TABLE blob_chunks ALTER COLUMN data SET STORAGE EXTERNAL;
            CREATE TABLE blobs (
                space int4 NOT NULL,
                container text NOT NULL,
                name bytea NOT NULL,
                content int8 NOT NULL REFERENCES blob_contents,
                size int8 NOT NULL,
                modified_at int8 NOT NULL,
                PRIMARY KEY (space, container, name),
                FOREIGN KEY (space, container) REFERENCES containers
            );
            CREATE TABLE blob_blocks (
                space int4 NOT NULL,
                container text NOT NULL,
                name bytea NOT NULL,
                id bytea NOT NULL,
                content int8 NOT NULL REFERENCES blob_contents ON DELETE CASCADE,
                size int8 NOT NULL,
                PRIMARY KEY (space, container, name, id),
                FOREIGN KEY (space, container) REFERENCES containers
            );
            CREATE INDEX blob_blocks_by_content ON blob_blocks (content);
            INSERT INTO containers (space, name) VALUES (1, 'payloads');
            """)
}
