"""Characters beyond ASCII that end a URL, or may: the properties Link_Term and Link_Bracket of Unicode 17 (UTS 58).

Numbers are hexadecimal. All other characters are "Include"; what is not assigned yet, "Hard" in UTS 58, is so here too,
because most of it will be.
"""

# Link_Term=Hard: spaces, controls, private use, deprecated characters, and what is no character.
HARD = (
    "80-a0 149 673 f77 f79 1680 17a3-17a4 2000-200a 2028-2029 202f 205f 206a-206f 2329-232a 3000 e000-f8ff fdd0-fdef "
    "fffe-ffff 1fffe-1ffff"
)

# Link_Term=Soft: quotation marks, and punctuation that ends sentences and their parts.
SOFT = (
    "ab bb 37e 387 589 5c3 60c 61b 61d-61f 6d4 700-70a 70c 7f8-7f9 830-835 837-83e 85e 964-965 e5a-e5b f08 f0d-f12 "
    "104a-104b 1361-1368 166e 16eb-16ed 1735-1736 17d4-17d6 17da 1802-1805 1808-1809 1944-1945 1aa8-1aab 1b4e-1b4f "
    "1b5a-1b5b 1b5d-1b5f 1b7d-1b7f 1c3b-1c3f 1c7e-1c7f 2018-2019 201b-201d 201f 2024 2039-203a 203c-203d 2047-2049 "
    "275b-2760 2cf9-2cfb 2e00-2e0d 2e1c-2e1d 2e20-2e21 2e2e 2e3c 2e41 2e4c 2e4e-2e4f 2e53-2e54 3001-3002 a4fe-a4ff "
    "a60d-a60f a6f3-a6f7 a876-a877 a8ce-a8cf a92f a9c7-a9c9 aa5d-aa5f aadf aaf0-aaf1 abeb fe12 fe15-fe16 fe50-fe52 "
    "fe54-fe57 ff01 ff0c ff0e ff1a-ff1b ff1f ff61 ff64 1039f 103d0 10857 1091f 10a56-10a57 10af0-10af5 10b3a-10b3f "
    "10b99-10b9c 10f55-10f59 10f86-10f89 11047-1104d 110be-110c1 11141-11143 111c5-111c6 111cd 111de-111df 11238-1123c "
    "112a9 113d4-113d5 1144b-1144d 1145a-1145b 115c2-115c5 115c9-115d7 11641-11642 1173c-1173e 11944 11946 11a42-11a43 "
    "11a9b-11a9c 11aa1-11aa2 11c41-11c43 11c71 11ef7-11ef8 11f43-11f44 12470-12474 16a6e-16a6f 16af5 16b37-16b39 16b44 "
    "16d6e-16d6f 16e97-16e98 1bc9f 1da87-1da8a 1f676-1f678"
)

# Link_Bracket: the opening bracket (Link_Term=Open) and the closing one (Close) of each pair.
BRACKETS = (
    "f3a-f3b f3c-f3d 169b-169c 2045-2046 207d-207e 208d-208e 2308-2309 230a-230b 2768-2769 276a-276b 276c-276d "
    "276e-276f 2770-2771 2772-2773 2774-2775 27c5-27c6 27e6-27e7 27e8-27e9 27ea-27eb 27ec-27ed 27ee-27ef 2983-2984 "
    "2985-2986 2987-2988 2989-298a 298b-298c 298f-298e 298d-2990 2991-2992 2993-2994 2995-2996 2997-2998 29d8-29d9 "
    "29da-29db 29fc-29fd 2e22-2e23 2e24-2e25 2e26-2e27 2e28-2e29 2e55-2e56 2e57-2e58 2e59-2e5a 2e5b-2e5c 3008-3009 "
    "300a-300b 300c-300d 300e-300f 3010-3011 3014-3015 3016-3017 3018-3019 301a-301b fe59-fe5a fe5b-fe5c fe5d-fe5e "
    "ff08-ff09 ff3b-ff3d ff5b-ff5d ff5f-ff60 ff62-ff63"
)


def terms(text: str) -> list[tuple[int, int]]:
    """Return the numbers of a list above.

    >>> terms("ab 2018-2019")
    [(171, 171), (8216, 8217)]
    """
    pairs = (each.partition("-") for each in text.split())
    return [(int(first, 16), int(last or first, 16)) for first, _, last in pairs]
