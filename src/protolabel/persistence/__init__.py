"""Safe model files and export to ONNX."""

from protolabel.persistence.model_files import load_model, save_model
from protolabel.persistence.onnx_export import export_onnx

__all__ = ["export_onnx", "load_model", "save_model"]
