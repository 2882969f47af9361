/* SPDX-License-Identifier: MIT */
/* tar.h - POSIX's format of archives (ustar and pax), as far as packed traces need it. */
#ifndef TAR_H
#define TAR_H

#define TAR_BLOCK 512u /* heads and contents begin at multiples of it; two blocks of zeros end the archive */

/* Numbers are octal text. */
struct tar_head {
	char name[100];
	char mode[8];
	char uid[8];
	char gid[8];
	char size[12];
	char mtime[12];
	char checksum[8]; /* the sum of the head's bytes, with blanks in this place */
	char type;
	char linkname[100];
	char magic[6];
	char version[2];
	char uname[32];
	char gname[32];
	char devmajor[8];
	char devminor[8];
	char prefix[155]; /* of the name, in front of a slash */
	char pad[12];
};

_Static_assert(sizeof(struct tar_head) == TAR_BLOCK, "a head is a block");

#define TAR_MAGIC "ustar" /* with its NUL */

#define TAR_FILE '0'
#define TAR_DIRECTORY '5'
#define TAR_PAX 'x' /* lines "LENGTH KEY=VALUE\n" about the next file */

static inline unsigned int tar_checksum(const struct tar_head *head)
{
	const unsigned char *bytes = (const unsigned char *)head;
	unsigned int sum = ' ' * sizeof(head->checksum);

	for (unsigned int i = 0; i < sizeof(*head); i++)
		sum += bytes[i];
	for (unsigned int i = 0; i < sizeof(head->checksum); i++)
		sum -= (unsigned char)head->checksum[i];
	return sum;
}

#endif /* TAR_H */
