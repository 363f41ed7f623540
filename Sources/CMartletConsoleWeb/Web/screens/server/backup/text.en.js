export default {
  "backup.text": "In the directory “backups” of the server's data, without the server's keys. The newest {n} are kept. Copy them to another machine, and keep secret.key apart from them.",
  "backup.make": "Back up now", "backup.making": "Backing up: {size} written. The server keeps running.", "backup.verifying": "Reading {name}", "backup.failed": "The last task was not completed", "backup.none": "No backup yet", "backup.none.text": "A backup holds hubs, devices, sends and users. It is read and checked before it counts.",
  "backup.whole": "Checked", "backup.damaged": "Damaged", "backup.unread": "Not checked", "backup.beforeUpgrade": "before an upgrade", "backup.verify": "Check", "backup.verifyOf": "Check the backup of {time}", "backup.download": "Download", "backup.downloadOf": "Download the backup of {time}",
};
