"""Learn how the corpus of Table 5 is made
=======================================

The consolidated laws of Canada, from public XML to bags of words::

    git clone https://github.com/justicecanada/laws-lois-xml
    python examples/make_laws_corpus.py laws-lois-xml laws.npz
    dcgev reproduce table5 --full --corpus laws.npz

Without arguments three small documents show the form.
"""

import sys
import tempfile
from pathlib import Path

from dcgev_cvx.reproduction.corpora import aligned_corpus
from dcgev_cvx.reproduction.translated_texts import laws_of_canada

SMALL = {
    "eng/acts/A-1.xml": "The carrier shall keep a record of every ship. The record names the ship and the port.",
    "fra/lois/A-1.xml": "Le transporteur tient un registre des navires. Le registre nomme le navire et le port.",
    "eng/regulations/SOR-99-1.xml": "A ship in port pays a fee. The port keeps the record of the fee of each ship.",
    "fra/reglements/DORS-99-1.xml": "Le navire au port paie un droit. Le port tient le registre du droit du navire.",
    "eng/regulations/SI-99-2.xml": "The fee of a carrier is set by the port; the carrier pays the fee to the port.",
    "fra/reglements/TR-99-2.xml": "Le droit du transporteur est fixé au port; le transporteur paie le droit au port.",
}


def demonstration(folder):
    """Three documents in both languages, in the folders of the public repository."""
    for name, text in SMALL.items():
        path = Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"<Statute><Body><Text>{text}</Text></Body></Statute>", encoding="utf-8")
    return laws_of_canada(folder, least_words=10)


if len(sys.argv) == 3 and sys.argv[2].endswith(".npz"):
    laws_of_canada(sys.argv[1]).save(sys.argv[2])
    print(aligned_corpus(sys.argv[2]))
else:
    with tempfile.TemporaryDirectory() as folder:
        corpus = demonstration(folder)
        corpus.save(Path(folder) / "small.npz")
        print(aligned_corpus(Path(folder) / "small.npz"))
    for name, english, french in zip(corpus.documents, corpus.E, corpus.F, strict=True):
        words = (", ".join(corpus.words[side][j] for j in bag.indices) for side, bag in enumerate((english, french)))
        print(f"{name}: " + " | ".join(words))
